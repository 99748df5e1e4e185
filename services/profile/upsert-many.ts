/** Upserts of many: those that have nothing to do with each other go together. */
import type { UpsertProfileRequest } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError, settle, settleNow } from "#shared/values/errors.ts";
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { isTransient, isUniqueViolation } from "#shared/database/failures.ts";
import { planChain, separate, type PlannedChain, type Step, type Upsert } from "./chains.ts";
import type { ProfileContext } from "./context.ts";
import { findDone, recordOperations, type DoneOperation } from "./operations.ts";
import type { ProfileRow } from "./sql/profiles.ts";
import { closeAttempt, OptimisticConflict, openAttempt, type Attempt } from "./attempts.ts";
import { readWanted, upsert, type Upserted } from "./upsert.ts";
import { execute } from "./writing.ts";

/** What became of an upsert among others; one that is contended would have had to wait, and nothing was done of it. */
export type UpsertOutcome = Upserted | DaybookError | "contended";

/** An upsert among others, on its way to its outcome. */
interface Item extends Upsert {
  outcome?: UpsertOutcome;
}

// Each settles at least the first of those that want the same profile, and mostly all of them.
const roundsMax = 8;

/**
 * Upserts many, with the outcome of one after the other. Those that have nothing to do with each other go together, in two statements.
 * @param skipContended leaves those that would have to wait to the caller, so that the others need not wait with them.
 * @returns what became of each, in order.
 */
export async function upsertMany(
  context: ProfileContext,
  property: Uuid,
  requests: readonly UpsertProfileRequest[],
  skipContended: boolean,
): Promise<UpsertOutcome[]> {
  const items: Item[] = [];
  for (const request of requests) {
    const item = settleNow(() => readItem(request));
    items.push(item instanceof DaybookError ? { request, identifiers: [], operation: undefined, outcome: item } : item);
  }
  await settleDone(openAttempt(context, property), items);
  let together: Item[] = [];
  for (const item of items) {
    if (item.outcome) continue;
    if (item.request.idempotencyKey === undefined) {
      together.push(item);
      continue;
    }
    // One with a key is done with it or not at all, in a transaction of its own, when those before it are done.
    await upsertTogether(context, property, together, skipContended);
    together = [];
    await upsertAlone(context, property, item);
  }
  await upsertTogether(context, property, together, skipContended);
  return items.map(({ outcome }) => {
    if (!outcome) throw new Error("an item was not settled");
    return outcome;
  });
}

function readItem(request: UpsertProfileRequest): Item {
  const { operationId } = request;
  const operation = operationId === undefined ? undefined : decodeId("op", operationId, "operation_id");
  return { request, identifiers: readWanted(request), operation };
}

/** Settles the items whose operations were done before. */
async function settleDone(attempt: Attempt, items: readonly Item[]): Promise<void> {
  const operations = items.flatMap(({ operation }) => operation ?? []);
  const done = await findDone<Omit<Upserted, "row">>(attempt, operations);
  for (const item of items) {
    const outcome = item.operation === undefined ? undefined : done.get(item.operation);
    if (outcome) item.outcome = outcome;
  }
}

async function upsertTogether(
  context: ProfileContext,
  property: Uuid,
  items: readonly Item[],
  skipContended: boolean,
): Promise<void> {
  let open = items;
  for (let round = 1; open.length > 0; round++) {
    if (skipContended && round > roundsMax) {
      for (const item of open) item.outcome = "contended";
      return;
    }
    const attempt = openAttempt(context, property);
    const { chains, later } = await separate(attempt, open);
    const planned: PlannedChain<Item>[] = [];
    const alone: Item[] = [];
    for (const chain of chains) {
      const { rest, compound, ...links } = await planChain(attempt, chain);
      planned.push(links);
      if (compound) alone.push(compound);
      for (const item of rest) later.add(item);
    }
    const written = await writeUnlessLost(context, attempt, planned);
    for (const [index, { steps }] of planned.entries()) {
      const row = written[index];
      // What was refused was refused after what is not written.
      if (!row) alone.push(...steps.map(({ item }) => item));
      else settleSteps(steps, row);
    }
    await closeAttempt(context, attempt);
    for (const item of alone) {
      if (skipContended) item.outcome = "contended";
      else await upsertAlone(context, property, item);
    }
    open = open.filter((item) => later.has(item));
  }
}

/** @param row the profile as it was written, or "nothing" if it is as it was. */
function settleSteps(steps: readonly Step<Item>[], row: ProfileRow | "nothing"): void {
  for (const step of steps) {
    if ("error" in step) step.item.outcome = step.error;
    // Of a new profile the database knows more than the plan.
    else if (step.created && row !== "nothing") step.item.outcome = { row, created: true, replayed: false };
    else step.item.outcome = { row: step.row, created: false, replayed: false };
  }
}

/**
 * Writes what is planned, with the operations that it belongs to.
 * @returns for each chain, in order, the profile as it then is, or "nothing" if nothing was to be written; undefined for one that was not as the
 * plan takes it to be. Somebody else may have been given an identifier meanwhile, or be at the same operation, or there may be room for some of it
 * only: then nothing is done, and each is to be done by itself.
 */
async function writeUnlessLost(
  { database }: ProfileContext,
  attempt: Attempt,
  chains: readonly PlannedChain<Item>[],
): Promise<(ProfileRow | "nothing" | undefined)[]> {
  const write = async (on: Attempt): Promise<(ProfileRow | "nothing" | undefined)[]> => {
    const plans = chains.flatMap(({ plan }) => plan ?? []);
    const written = plans.length > 0 ? await execute(on, plans) : [];
    const rows = written.values();
    return chains.map(({ plan }) => (plan ? rows.next().value : "nothing"));
  };
  try {
    if (chains.every(({ steps }) => steps.every(({ item }) => item.operation === undefined)))
      return await write(attempt);
    return await withTransaction(database, async (tx) => {
      const inTransaction = Object.assign(attempt, { database: tx, tx, attributes: [] });
      const rows = await write(inTransaction);
      const done = chains.flatMap(({ steps }, index) => (rows[index] ? steps.flatMap(toDoneOperations) : []));
      if (done.length > 0) await recordOperations(inTransaction, done);
      return rows;
    });
  } catch (error) {
    const isLost = error instanceof OptimisticConflict || isUniqueViolation(error) || isTransient(error);
    if (!isLost && !(error instanceof DaybookError)) throw error;
    return chains.map(() => undefined);
  }
}

function toDoneOperations(step: Step<Item>): DoneOperation[] {
  const { operation } = step.item;
  if ("error" in step || operation === undefined) return [];
  return [{ operation, profile: step.row.id, note: { created: step.created, replayed: false } }];
}

async function upsertAlone(context: ProfileContext, property: Uuid, item: Item): Promise<void> {
  item.outcome = await settle(upsert(context, property, item.request));
}
