import { create, toBinary } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  CreateImportJobRequestSchema,
  CreateImportJobResponseSchema,
  type ImportItem,
  type ProfileService,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { textProblem } from "#shared/json/json.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { ProfileContext } from "../context.ts";
import { askForChunk, chunkItemsMax, oldestJob, toImportJob } from "../imports.ts";
import { countUnfinishedJobs, findImportJob, insertChunk, insertImportJob, lockImports } from "../sql/imports.ts";

const itemsMax = 10_000;
const bytesMax = 15 * 1024 * 1024;
const unfinishedMax = 100;
// Some jobs are likely to be finished by then.
const unfinishedRetryMs = 10_000;

export function createImportJob(context: ProfileContext): ServiceImpl<typeof ProfileService>["createImportJob"] {
  const { database, clock, relay } = context;
  return async ({ propertyId, jobId, items }) => {
    checkItemCount(items.length, itemsMax, "items");
    const property = decodeId("prop", propertyId, "property_id");
    const job = decodeId("job", jobId, "job_id");
    const payloads = await toPayloads(items.map(readItem));
    relay.checkRoom();
    const row = await withTransaction(database, async (tx) => {
      await lockImports(tx, [property]);
      const now = clock.nowMicros();
      const [known] = await findImportJob(tx, [property, job, oldestJob(now)]);
      if (known) return known;
      const [unfinished] = await countUnfinishedJobs(tx, [property, oldestJob(now), unfinishedMax]);
      if (!unfinished || unfinished.count >= unfinishedMax) {
        const message = `At most ${unfinishedMax} import jobs of a property are unfinished at a time. Try again later.`;
        throw new DaybookError("rate_limited", message, { retryAfterMs: unfinishedRetryMs });
      }
      const [made] = await insertImportJob(tx, [property, job, items.length, payloads.length, formatMicros(now)]);
      if (!made) throw new DaybookError("parameter_conflict", "There was a job of this id.", { param: "job_id" });
      for (const [chunk, payload] of payloads.entries()) await insertChunk(tx, [property, job, chunk, payload]);
      await askForChunk(tx, property, job, 0);
      return made;
    });
    relay.wake();
    return create(CreateImportJobResponseSchema, { job: toImportJob(row) });
  };
}

/** An item without what is the job's. */
function readItem({ write, originalJson }: ImportItem, index: number): ImportItem["write"] & { originalJson: string } {
  if (write.case === undefined) {
    const message = "An item has an upsert or an update.";
    throw new DaybookError("parameter_missing", message, { param: `items.${index}` });
  }
  const problem = textProblem(originalJson);
  if (problem !== undefined) {
    const message = `The original_json ${problem}.`;
    throw new DaybookError("parameter_invalid", message, { param: `items.${index}.original_json` });
  }
  return { ...write, originalJson };
}

async function toPayloads(items: readonly ReturnType<typeof readItem>[]): Promise<Buffer[]> {
  const payloads: Buffer[] = [];
  const pauses = new Steps();
  for (let from = 0; from < items.length; from += chunkItemsMax) {
    await pauses.next();
    const chunk = items.slice(from, from + chunkItemsMax).map(({ originalJson, ...write }) => {
      if (write.case === undefined) return { originalJson };
      const { operationId: _operation, ...value } = write.value;
      return { originalJson, write: { case: write.case, value } as typeof write };
    });
    const message = create(CreateImportJobRequestSchema, { items: chunk });
    payloads.push(Buffer.from(toBinary(CreateImportJobRequestSchema, message)));
  }
  if (payloads.reduce((sum, { length }) => sum + length, 0) > bytesMax) {
    const message = `The items of a job take at most ${bytesMax / 1024 / 1024} MiB together.`;
    throw new DaybookError("request_too_large", message, { param: "items" });
  }
  return payloads;
}
