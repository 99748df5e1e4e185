/** Runs the metric service as a process of its own. */
import { createServiceClient } from "#shared/rpc/clients.ts";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { readOutboxBytesMax } from "#shared/outbox/room.ts";
import { runService } from "#shared/process/service-process.ts";
import { createMetric } from "./service.ts";

await runService({
  name: "metric",
  port: 8104,
  internalPort: 9104,
  read: (reader) => ({
    outboxBytesMax: readOutboxBytesMax(reader),
    eventUrls: reader.urls("EVENT_URL", ["http:"], "http://127.0.0.1:8103"),
    profileUrls: reader.urls("PROFILE_URL", ["http:"], "http://127.0.0.1:8102"),
  }),
  create: (context, { settings, connectTo }) =>
    createMetric(
      context,
      {
        events: createServiceClient(EventService, connectTo(settings.eventUrls)),
        profiles: createServiceClient(ProfileService, connectTo(settings.profileUrls)),
      },
      settings,
    ),
});
