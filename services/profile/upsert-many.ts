/** Upserts of many: independent ones are written together. */
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

/** The outcome of one upsert. "contended": it would have had to wait, and nothing was written. */
export type UpsertOutcome = Upserted | DaybookError | "contended";

/** An upsert, with its outcome once it is settled. */
interface Item extends Upsert {
  outcome?: UpsertOutcome;
}

// Each round settles at least the first upsert of each contested profile, and mostly all of them.
const roundsMax = 8;

/**
 * Upserts many, with the same outcomes as one after the other. Independent ones share their statements.
 * @param skipContended leaves upserts that would have to wait to the caller, so that the others do not wait.
 * @returns one outcome per request, in order.
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
    // An upsert with a key needs its own transaction, because the key commits with the write. Earlier ones go first.
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

/** Settles the items whose operations are already done. */
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
      // Errors of a chain that lost its race are decided anew, because they assumed the steps before them.
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

/** @param row the written profile, or "nothing" if it did not change. */
function settleSteps(steps: readonly Step<Item>[], row: ProfileRow | "nothing"): void {
  for (const step of steps) {
    if ("error" in step) step.item.outcome = step.error;
    // Only the written row of a new profile has its compact reference.
    else if (step.created && row !== "nothing") step.item.outcome = { row, created: true, replayed: false };
    else step.item.outcome = { row: step.row, created: false, replayed: false };
  }
}

/**
 * Writes planned chains and records their operations.
 * @returns for each chain, in order, the written profile, "nothing" if it has no plan, or undefined if its profile had
 * changed. All are undefined, and nothing is written, after another writer took an identifier or an operation, or when
 * the outbox is full. Each item is then to be upserted alone.
 */
async function writeUnlessLost(
  { database }: ProfileContext,
  attempt: Attempt,
  chains: readonly PlannedChain<Item>[],
): Promise<(ProfileRow | "nothing" | undefined)[]> {
  const write = async (attemptOfWrite: Attempt): Promise<(ProfileRow | "nothing" | undefined)[]> => {
    const plans = chains.flatMap(({ plan }) => plan ?? []);
    const written = plans.length > 0 ? await execute(attemptOfWrite, plans) : [];
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
