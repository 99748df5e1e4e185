import type { CallOptions } from "@connectrpc/connect";
import type { Log } from "#shared/process/log.ts";
import type { Clients, Services } from "../clients.ts";
import type { Cursors } from "../cursor.ts";
import type { Exports } from "../export/exports.ts";
import type { Readiness } from "../readiness.ts";
import type { Audit } from "./audit.ts";
import type { Entrance } from "./entrance.ts";
import type { Issuer } from "./issuer.ts";
import type { Sessions } from "./sessions.ts";

/** What the parts of the dashboard share. */
export interface DashboardContext {
  clients: Clients;
  bindServices: (options: CallOptions) => Services;
  /** Streams of what is kept of a person. */
  exports: Exports;
  log: Log;
  readiness: Readiness;
  sessions: Sessions;
  entrance: Entrance;
  audit: Audit;
  cursors: Cursors;
  /** Who vouches for members beside passwords. */
  issuer: Issuer | undefined;
  /** Time for a call to a service. */
  callTimeoutMs: number;
}
