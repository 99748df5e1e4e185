/** Upserts of many: independent ones are written together. */
import type { UpsertProfileRequest } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError, settle, settleNow } from "#shared/values/errors.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { isTransient, isUniqueViolation } from "#shared/database/failures.ts";
import { planChain, separate, type PlannedChain, type Step } from "./chains.ts";
import type { ProfileContext } from "./context.ts";
import { findDone, recordOperations, type DoneOperation } from "./operations.ts";
import type { ProfileRow } from "./sql/profiles.ts";
import { closeAttempt, OptimisticConflict, openAttempt, type Attempt } from "./attempts.ts";
import { doneUnderKey, readUpsert, replayOf, upsert, type Upsert, type Upserted } from "./upsert.ts";
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
  const items: Item[] = requests.map((request) => {
    const item = settleNow(() => readUpsert(property, request));
    if (!(item instanceof DaybookError)) return item;
    return { request, identifiers: [], operation: undefined, key: undefined, outcome: item };
  });
  const keys = await settleDone(openAttempt(context, property), items);
  let together: Item[] = [];
  for (const item of items) {
    if (item.outcome) continue;
    if (!item.key || !keys.has(item.key.id)) {
      if (item.key) keys.add(item.key.id);
      together.push(item);
      continue;
    }
    // The key is held, or is that of an earlier item, whose outcome decides this one's.
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

/** Settles the items whose operations are already done, or whose keys are held. @returns the ids of the held keys. */
async function settleDone(attempt: Attempt, items: readonly Item[]): Promise<Set<Uuid>> {
  const ids = items.flatMap(({ operation, key }) => [operation ?? [], key?.id ?? []].flat());
  const done = await findDone<Omit<Upserted, "row">>(attempt, ids);
  const keys = new Set<Uuid>();
  for (const item of items) {
    const { operation, key } = item;
    const known = operation === undefined ? undefined : done.get(operation);
    if (known) item.outcome = { ...known.note, row: known.row };
    const held = key && done.get(key.id);
    if (item.outcome || !held) continue;
    keys.add(key.id);
    // An operation records a replay too, so that it is answered in the same way after the key has expired.
    if (operation === undefined) item.outcome = settleNow(() => replayOf(key, held));
  }
  return keys;
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
    const { chains, later, refused } = await separate(attempt, open);
    for (const [item, error] of refused) item.outcome = error;
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
    if (!chains.some(({ steps }) => steps.some(({ item }) => item.operation ?? item.key))) return await write(attempt);
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
  if ("error" in step) return [];
  const { row, created, item } = step;
  const { operation, key } = item;
  const done: DoneOperation[] = [];
  if (operation) done.push({ id: operation, profile: row.id, note: { created, replayed: false } });
  if (key) done.push(doneUnderKey(key, row));
  return done;
}

async function upsertAlone(context: ProfileContext, property: Uuid, item: Item): Promise<void> {
  item.outcome = await settle(upsert(context, property, item));
}
