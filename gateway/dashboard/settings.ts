import { join } from "node:path";

export interface DashboardSettings {
  /** What Vite has built of `ui/`. */
  uiFolder: string;
  /** Requests a minute of one session. */
  requestsPerMinute: number;
}

export const dashboardDefaults: DashboardSettings = {
  uiFolder: join(import.meta.dirname, "ui/dist"),
  requestsPerMinute: 600,
};
