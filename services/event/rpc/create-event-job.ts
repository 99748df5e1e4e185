import { create, toBinary } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  CreateEventJobRequestSchema,
  CreateEventJobResponseSchema,
  type EventJobItem,
  type EventService,
} from "#proto/daybook/event/v1/event_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, newId } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import { formatMicros } from "#shared/values/time.ts";
import { count } from "#shared/values/count.ts";
import type { EventContext } from "../context.ts";
import { askForChunk, chunkItemsMax } from "../jobs.ts";
import { countUnfinishedJobs, findJob, insertChunk, insertJob, lockJobs } from "../sql/jobs.ts";

const itemsMax = 1000;
const bytesMax = 15 * 1024 * 1024;
const unfinishedMax = 1000;
// Some jobs are likely to be finished by then.
const unfinishedRetryMs = 10_000;

export function createEventJob(context: EventContext): ServiceImpl<typeof EventService>["createEventJob"] {
  const { database, clock, relay } = context;
  return async ({ propertyId, jobId, items }) => {
    checkItemCount(items.length, itemsMax, "items");
    const property = decodeId("prop", propertyId, "property_id");
    const job = decodeId("job", jobId, "job_id");
    const now = formatMicros(clock.nowMicros());
    const payloads = await toPayloads(items.map((item, index) => readItem(item, index, now)));
    relay.checkRoom();
    await withTransaction(database, async (tx) => {
      await lockJobs(tx, [property]);
      const [known] = await findJob(tx, [property, job]);
      if (known) return;
      const [unfinished] = await countUnfinishedJobs(tx, [property, unfinishedMax]);
      if (!unfinished || unfinished.count >= unfinishedMax) {
        const message = `At most ${count(unfinishedMax)} jobs of a property are unfinished at a time. Try again later.`;
        throw new DaybookError("rate_limited", message, { retryAfterMs: unfinishedRetryMs });
      }
      await insertJob(tx, [property, job, payloads.length, now]);
      for (const [chunk, payload] of payloads.entries()) await insertChunk(tx, [property, job, chunk, payload]);
      await askForChunk(tx, property, job, 0);
    });
    relay.wake();
    return create(CreateEventJobResponseSchema);
  };
}

/** An item with all that is fixed from now on: the id of its event, when it happened unless it says so, and the operation of its update. */
function readItem({ event, profile, update }: EventJobItem, index: number, now: string) {
  if (!event) {
    throw new DaybookError("parameter_missing", "An item has an event.", { param: `items.${index}.event` });
  }
  const { operationId: _operation, ...upsert } = profile ?? {};
  return {
    event: { ...event, operationId: newId("op"), operationIsNew: false, occurredAt: event.occurredAt ?? now },
    ...(profile ? { profile: upsert as typeof profile } : {}),
    ...(update ? { update: { ...update, operationId: newId("op") } } : {}),
  };
}

async function toPayloads(items: readonly ReturnType<typeof readItem>[]): Promise<Buffer[]> {
  const payloads: Buffer[] = [];
  const pauses = new Steps();
  for (let from = 0; from < items.length; from += chunkItemsMax) {
    await pauses.next();
    const message = create(CreateEventJobRequestSchema, { items: items.slice(from, from + chunkItemsMax) });
    payloads.push(Buffer.from(toBinary(CreateEventJobRequestSchema, message)));
  }
  if (payloads.reduce((sum, { length }) => sum + length, 0) > bytesMax) {
    const message = `The items of a job take at most ${bytesMax / 1024 / 1024} MiB together.`;
    throw new DaybookError("request_too_large", message, { param: "items" });
  }
  return payloads;
}
