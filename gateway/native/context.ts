import type { Log } from "#shared/log.ts";
import type { Clients } from "../clients.ts";
import type { ProfileReading } from "../profile-reading.ts";
import type { Recording } from "../recording.ts";
import type { Cursors } from "./cursor.ts";

/** What the routes work with. */
export interface NativeContext {
  clients: Clients;
  recording: Recording;
  reading: ProfileReading;
  cursors: Cursors;
  log: Log;
}
