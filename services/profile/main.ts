/** Runs the profile service as a process of its own. */
import { readOutboxBytesMax } from "#shared/outbox/room.ts";
import { runService } from "#shared/process/service-process.ts";
import { readProfileSettings } from "./config.ts";
import { createProfile } from "./service.ts";

await runService({
  name: "profile",
  port: 8102,
  internalPort: 9102,
  read: (reader) => ({ ...readProfileSettings(reader), outboxBytesMax: readOutboxBytesMax(reader) }),
  create: (context, { settings }) => createProfile(context, settings),
});
