/** The event service alone, as a process. */
import { createClient } from "@connectrpc/connect";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { readOutboxBytesMax } from "#shared/outbox-room.ts";
import { runService } from "#shared/process.ts";
import { readEventSettings } from "./config.ts";
import { createEvent } from "./service.ts";

await runService({
  name: "event",
  port: 8103,
  internalPort: 9103,
  read: (reader) => ({
    ...readEventSettings(reader),
    outboxBytesMax: readOutboxBytesMax(reader),
    profileUrl: reader.url("PROFILE_URL", ["http:"], "http://127.0.0.1:8102"),
  }),
  create: (context, { settings, connectTo }) =>
    createEvent(context, createClient(ProfileService, connectTo(settings.profileUrl)), settings),
});
