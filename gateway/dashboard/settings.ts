/** Settings of the dashboard. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SettingsReader } from "#shared/process/config.ts";
import type { IssuerSettings } from "./issuer.ts";
import { isLoopback } from "./place.ts";

export interface DashboardSettings {
  /** What Vite has built of `ui/`. */
  uiFolder: string;
  /** Requests a minute of one member, in all of her sessions. */
  requestsPerMinute: number;
  /** Who vouches for members beside passwords. */
  issuer: IssuerSettings | undefined;
}

/** Without any settings. */
export const dashboardDefaults: DashboardSettings = {
  uiFolder: join(import.meta.dirname, "ui/dist"),
  requestsPerMinute: 600,
  issuer: undefined,
};

export function readDashboardSettings(reader: SettingsReader): DashboardSettings {
  return { ...dashboardDefaults, issuer: readIssuer(reader) };
}

function readIssuer(reader: SettingsReader): IssuerSettings | undefined {
  const url = reader.optionalUrl("OIDC_ISSUER", ["https:", "http:"]);
  const clientId = reader.optional("OIDC_CLIENT_ID");
  const file = reader.optional("OIDC_CLIENT_SECRET_FILE");
  if (url === undefined && clientId === undefined && file === undefined) return undefined;
  if (url === undefined || clientId === undefined || file === undefined) {
    reader.problem("OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET_FILE must be set together");
    return undefined;
  }
  const { protocol, hostname } = URL.parse(url) ?? {};
  if (protocol === "http:" && !isLoopback(hostname ?? "")) {
    reader.problem("OIDC_ISSUER must start with https: but for an issuer on the same computer");
  }
  return { url, clientId, clientSecret: readSecret(reader, file) };
}

function readSecret(reader: SettingsReader, file: string): string {
  try {
    const secret = readFileSync(file, "utf8").trim();
    if (secret === "") reader.problem("OIDC_CLIENT_SECRET_FILE must name a file that is not empty");
    return secret;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    reader.problem(`OIDC_CLIENT_SECRET_FILE must name a file that can be read: ${code}`);
    return "";
  }
}
