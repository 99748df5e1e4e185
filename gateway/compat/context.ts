/** What the routes of the compatibility surface work with. */
import type { Clock } from "#shared/values/clock.ts";
import type { Log } from "#shared/process/log.ts";
import type { Clients } from "../clients.ts";
import type { CompatSettings } from "../config.ts";
import type { Cursors } from "../cursor.ts";
import type { Profiles } from "../profiles.ts";
import type { Recording } from "../recording.ts";

/** See above. */
export interface CompatContext {
  clients: Clients;
  recording: Recording;
  profiles: Profiles;
  cursors: Cursors;
  clock: Clock;
  log: Log;
  settings: CompatSettings;
}
