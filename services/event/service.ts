import { join } from "node:path";
import type { Client } from "@connectrpc/connect";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { RejectedWriteService } from "#proto/daybook/event/v1/rejected_pb.ts";
import type { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import type { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { forgetJobs } from "#shared/jobs/jobs.ts";
import { migrate } from "#shared/database/migrate.ts";
import type { RequestClaims } from "#shared/once/request-claims.ts";
import { createOutboxRelay } from "#shared/outbox/outbox.ts";
import { repeat } from "#shared/scheduling/repeat.ts";
import type { Service, ServiceContext } from "#shared/process/service.ts";
import type { EventSettings } from "./config.ts";
import { anonymousEventsRecorded } from "./consumers/anonymous-events-recorded.ts";
import { privacyWorkDue } from "./consumers/privacy-work-due.ts";
import { profilesChanged } from "./consumers/profiles-changed.ts";
import { writesRejected } from "./consumers/writes-rejected.ts";
import type { EventContext } from "./context.ts";
import { createEventJobs, eventJobs } from "./jobs.ts";
import { createPartitions, deleteExpired, detachOld, maintenanceIntervalMs } from "./maintenance.ts";
import { createLowWatermark } from "./low-watermark.ts";
import { createRequests } from "./requests.ts";
import { forgetRejected } from "./rejected-retention.ts";
import { writesRejectedSubject } from "./rejected-subjects.ts";
import { startReports } from "./reporting.ts";
import { aggregateEvents } from "./rpc/aggregate-events.ts";
import { countProfileEvents } from "./rpc/count-profile-events.ts";
import { countRecentEvents } from "./rpc/count-recent-events.ts";
import { createEventJob } from "./rpc/create-event-job.ts";
import { getEventJob } from "./rpc/get-event-job.ts";
import { exportEvents } from "./rpc/export-events.ts";
import { getEvents } from "./rpc/get-events.ts";
import { getLastEvents } from "./rpc/get-last-events.ts";
import { getRejectedWrite } from "./rpc/get-rejected-write.ts";
import { getRejectedWriteSettings } from "./rpc/get-rejected-write-settings.ts";
import { getWatermark } from "./rpc/get-watermark.ts";
import { listEventJobErrors } from "./rpc/list-event-job-errors.ts";
import { listEventJobs } from "./rpc/list-event-jobs.ts";
import { listEvents } from "./rpc/list-events.ts";
import { listRejectedWrites } from "./rpc/list-rejected-writes.ts";
import { recordEvents } from "./rpc/record-events.ts";
import { recordRejectedWrites } from "./rpc/record-rejected-writes.ts";
import { summarizeRejectedWrites } from "./rpc/summarize-rejected-writes.ts";
import { tailEvents } from "./rpc/tail-events.ts";
import { updateRejectedWriteSettings } from "./rpc/update-rejected-write-settings.ts";
import { anonymousSubject } from "./storing.ts";
import { probe } from "./sql/events.ts";
import { createEventTypes } from "./types.ts";

const migrations = join(import.meta.dirname, "migrations");

/** Clients of the services that the event service calls. */
export interface EventClients {
  profiles: Client<typeof ProfileService>;
  identity: Client<typeof IdentityService>;
  privacy: Client<typeof PrivacyService>;
}

export function createEvent(
  serviceContext: ServiceContext,
  clients: EventClients,
  {
    retentionMonths,
    outboxBytesMax,
    requestClaims,
  }: EventSettings & { outboxBytesMax?: number | undefined; requestClaims?: RequestClaims },
): Service {
  const owner = new Owner();
  const relay = createOutboxRelay({ ...serviceContext, schema: "event", outboxBytesMax });
  const { database, clock, log } = serviceContext;
  const watermark = createLowWatermark(database, clock, log);
  const types = createEventTypes(database);
  const requests = requestClaims && createRequests(requestClaims);
  const context: EventContext = { ...serviceContext, ...clients, requests, relay, watermark, types };
  const jobs = createEventJobs(context);
  return {
    routes(router) {
      router.service(EventService, {
        recordEvents: recordEvents(context),
        getEvents: getEvents(context),
        listEvents: listEvents(context),
        exportEvents: exportEvents(context),
        tailEvents: tailEvents(context),
        aggregateEvents: aggregateEvents(context),
        getWatermark: getWatermark(context),
        getLastEvents: getLastEvents(context),
        createEventJob: createEventJob(jobs),
        getEventJob: getEventJob(context),
        listEventJobs: listEventJobs(context),
        listEventJobErrors: listEventJobErrors(context),
        countProfileEvents: countProfileEvents(context),
        countRecentEvents: countRecentEvents(context),
      });
      router.service(RejectedWriteService, {
        recordRejectedWrites: recordRejectedWrites(context),
        listRejectedWrites: listRejectedWrites(context),
        getRejectedWrite: getRejectedWrite(context),
        summarizeRejectedWrites: summarizeRejectedWrites(context),
        getRejectedWriteSettings: getRejectedWriteSettings(context),
        updateRejectedWriteSettings: updateRejectedWriteSettings(context),
      });
    },
    outbox: relay,
    async start() {
      await migrate(context.database, "event", migrations);
      await createPartitions(context);
      // Before the relay starts, so that a message of the outbox finds its consumer.
      await context.bus.subscribe("event_profiles", "daybook.profile.changed", profilesChanged(context));
      await context.bus.subscribe("event_anonymous", anonymousSubject, anonymousEventsRecorded(context));
      await context.bus.subscribe("event_rejected_writes", writesRejectedSubject, writesRejected(context));
      await context.bus.subscribe("event_jobs", eventJobs.subject, jobs.takeDue);
      await context.bus.subscribe("event_privacy", "daybook.profile.privacy_due", privacyWorkDue(context));
      owner.own(relay).start();
      owner.own(watermark).start();
      owner.own(startReports(context));
      owner.own(
        repeat(maintenanceIntervalMs, context.log, "look after tables", async (signal) => {
          await createPartitions(context);
          if (retentionMonths !== undefined) await detachOld(context, retentionMonths);
          await deleteExpired(context, signal);
          await forgetJobs(context, eventJobs, signal);
          await forgetRejected(context, signal);
        }),
      );
    },
    async checkReady() {
      await probe(context.database, []);
    },
    close: () => owner.close(),
  };
}
