/** Runs the webhook service as a process of its own. */
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { readInternalTokens, runService } from "#shared/process/service-process.ts";
import { createServiceClient } from "#shared/rpc/clients.ts";
import { readWebhookSettings } from "./config.ts";
import { createWebhook } from "./service.ts";

await runService({
  name: "webhook",
  port: 8105,
  internalPort: 9105,
  read: (reader) => ({
    ...readWebhookSettings(reader),
    ...readInternalTokens(reader),
    identityUrls: reader.urls("IDENTITY_URL", ["http:"], "http://127.0.0.1:8101"),
    profileUrls: reader.urls("PROFILE_URL", ["http:"], "http://127.0.0.1:8102"),
    eventUrls: reader.urls("EVENT_URL", ["http:"], "http://127.0.0.1:8103"),
    metricUrls: reader.urls("METRIC_URL", ["http:"], "http://127.0.0.1:8104"),
  }),
  create(context, { settings, connectTo, openSignals }) {
    const [identity, profile] = [connectTo(settings.identityUrls), connectTo(settings.profileUrls)];
    return createWebhook(
      { ...context, signals: openSignals() },
      {
        identity: createServiceClient(IdentityService, identity),
        apps: createServiceClient(AppService, identity),
        events: createServiceClient(EventService, connectTo(settings.eventUrls)),
        metrics: createServiceClient(MetricService, connectTo(settings.metricUrls)),
        profiles: createServiceClient(ProfileService, profile),
        privacy: createServiceClient(PrivacyService, profile),
      },
      settings,
    );
  },
});
