/** Runs the event service as a process of its own. */
import { createServiceClient } from "#shared/rpc/clients.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { readOutboxBytesMax } from "#shared/outbox/room.ts";
import { runService } from "#shared/process/service-process.ts";
import { readEventSettings } from "./config.ts";
import { createEvent } from "./service.ts";

await runService({
  name: "event",
  port: 8103,
  internalPort: 9103,
  read: (reader) => ({
    ...readEventSettings(reader),
    outboxBytesMax: readOutboxBytesMax(reader),
    identityUrls: reader.urls("IDENTITY_URL", ["http:"], "http://127.0.0.1:8101"),
    profileUrls: reader.urls("PROFILE_URL", ["http:"], "http://127.0.0.1:8102"),
  }),
  create(context, { settings, connectTo }) {
    const profile = connectTo(settings.profileUrls);
    return createEvent(
      context,
      {
        identity: createServiceClient(IdentityService, connectTo(settings.identityUrls)),
        profiles: createServiceClient(ProfileService, profile),
        privacy: createServiceClient(PrivacyService, profile),
      },
      settings,
    );
  },
});
