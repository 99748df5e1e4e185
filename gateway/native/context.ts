import type { Log } from "#shared/process/log.ts";
import type { Clients } from "../clients.ts";
import type { Profiles } from "../profiles.ts";
import type { Recording } from "../recording.ts";
import type { Cursors } from "../cursor.ts";

/** What the routes work with. */
export interface NativeContext {
  clients: Clients;
  recording: Recording;
  profiles: Profiles;
  cursors: Cursors;
  log: Log;
}
