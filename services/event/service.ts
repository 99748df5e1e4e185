import { join } from "node:path";
import type { Client } from "@connectrpc/connect";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import type { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { forgetJobs } from "#shared/jobs/jobs.ts";
import { migrate } from "#shared/database/migrate.ts";
import { createOutboxRelay } from "#shared/outbox/outbox.ts";
import { repeat } from "#shared/scheduling/repeat.ts";
import type { Service, ServiceContext } from "#shared/process/service.ts";
import type { EventSettings } from "./config.ts";
import { anonymousEventsRecorded } from "./consumers/anonymous-events-recorded.ts";
import { profilesChanged } from "./consumers/profiles-changed.ts";
import type { EventContext } from "./context.ts";
import { createEventJobs, eventJobs } from "./jobs.ts";
import { createPartitions, deleteExpired, detachOld, maintenanceIntervalMs } from "./maintenance.ts";
import { createLowWatermark } from "./low-watermark.ts";
import { aggregateEvents } from "./rpc/aggregate-events.ts";
import { countProfileEvents } from "./rpc/count-profile-events.ts";
import { countRecentEvents } from "./rpc/count-recent-events.ts";
import { createEventJob } from "./rpc/create-event-job.ts";
import { getEventJob } from "./rpc/get-event-job.ts";
import { getEvents } from "./rpc/get-events.ts";
import { getLastEvents } from "./rpc/get-last-events.ts";
import { getWatermark } from "./rpc/get-watermark.ts";
import { listEventJobErrors } from "./rpc/list-event-job-errors.ts";
import { listEventJobs } from "./rpc/list-event-jobs.ts";
import { listEvents } from "./rpc/list-events.ts";
import { recordEvents } from "./rpc/record-events.ts";
import { tailEvents } from "./rpc/tail-events.ts";
import { anonymousSubject } from "./storing.ts";
import { probe } from "./sql/events.ts";
import { createEventTypes } from "./types.ts";

const migrations = join(import.meta.dirname, "migrations");

/** Clients of the services that the event service calls. */
export interface EventClients {
  profiles: Client<typeof ProfileService>;
  identity: Client<typeof IdentityService>;
}

export function createEvent(
  serviceContext: ServiceContext,
  clients: EventClients,
  { retentionMonths, outboxBytesMax }: EventSettings & { outboxBytesMax?: number | undefined },
): Service {
  const owner = new Owner();
  const relay = createOutboxRelay({ ...serviceContext, schema: "event", outboxBytesMax });
  const { database, clock, log } = serviceContext;
  const watermark = createLowWatermark(database, clock, log);
  const context: EventContext = { ...serviceContext, ...clients, relay, watermark, types: createEventTypes(database) };
  const jobs = createEventJobs(context);
  return {
    routes(router) {
      router.service(EventService, {
        recordEvents: recordEvents(context),
        getEvents: getEvents(context),
        listEvents: listEvents(context),
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
    },
    outbox: relay,
    async start() {
      await migrate(context.database, "event", migrations);
      await createPartitions(context);
      // Before the relay starts, so that a message of the outbox finds its consumer.
      await context.bus.subscribe("event_profiles", "daybook.profile.changed", profilesChanged(context));
      await context.bus.subscribe("event_anonymous", anonymousSubject, anonymousEventsRecorded(context));
      await context.bus.subscribe("event_jobs", eventJobs.subject, jobs.takeDue);
      owner.own(relay).start();
      owner.own(watermark).start();
      owner.own(
        repeat(maintenanceIntervalMs, context.log, "look after tables", async (signal) => {
          await createPartitions(context);
          if (retentionMonths !== undefined) await detachOld(context, retentionMonths);
          await deleteExpired(context, signal);
          await forgetJobs(context, eventJobs, signal);
        }),
      );
    },
    async checkReady() {
      await probe(context.database, []);
    },
    close: () => owner.close(),
  };
}
