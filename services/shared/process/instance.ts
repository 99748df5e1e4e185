import { newUuid } from "../values/ids.ts";

/** This process: its id among all, and when it began, in microseconds since 1970. */
export const instance = {
  id: newUuid(),
  startedAt: Math.round((Date.now() - process.uptime() * 1000) * 1000),
} as const;
