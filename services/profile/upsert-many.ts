/** Upserts of many: those that have nothing to do with each other go together. */
import type { UpsertProfileRequest } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { decodeId } from "#shared/ids.ts";
import { isTransient, isUniqueViolation, withTransaction } from "#shared/postgres.ts";
import type { ProfileContext } from "./context.ts";
import { identifierKey, type WantedIdentifier } from "./domain/identifiers.ts";
import { listingFaults } from "./faults.ts";
import { findHolders } from "./identity.ts";
import { findDone, recordOperations, type DoneOperation } from "./operations.ts";
import type { ProfileRow } from "./sql/profiles.ts";
import { closeTurn, LostRace, openTurn, type Turn } from "./turns.ts";
import { decide, readWanted, upsert, type Upserted } from "./upsert.ts";
import { execute, isCompound, planEdit, planInsert, type Plan } from "./writing.ts";

/** What became of an upsert among others; one that is contended would have had to wait, and nothing was done of it. */
export type UpsertOutcome = Upserted | DaybookError | "contended";

/** An upsert among others. */
interface Item {
  request: UpsertProfileRequest;
  identifiers: readonly WantedIdentifier[];
  /** The UUID of its operation, if it is of one. */
  operation: string | undefined;
  outcome?: UpsertOutcome;
}

// Each takes the first of those that want the same profile.
const roundsMax = 8;

/**
 * Upserts many, with the outcome of one after the other. Those that have nothing to do with each other go together, in two statements.
 * @param skipContended leaves those that would have to wait to the caller, so that the others need not wait with them.
 * @returns what became of each, in order.
 */
export async function upsertMany(
  context: ProfileContext,
  property: string,
  requests: readonly UpsertProfileRequest[],
  skipContended: boolean,
): Promise<UpsertOutcome[]> {
  const items: Item[] = [];
  for (const request of requests) {
    const item = await settling(request, () => readItem(request));
    items.push(item instanceof DaybookError ? { request, identifiers: [], operation: undefined, outcome: item } : item);
  }
  await settleDone(openTurn(context, property), items);
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
async function settleDone(turn: Turn, items: readonly Item[]): Promise<void> {
  const operations = items.flatMap(({ operation }) => operation ?? []);
  const done = await findDone<Omit<Upserted, "row">>(turn, operations);
  for (const item of items) {
    const outcome = item.operation === undefined ? undefined : done.get(item.operation);
    if (outcome) item.outcome = outcome;
  }
}

/** An item of which it is decided what is written; without a plan it would change nothing. */
type Planned = { item: Item; created: boolean } & ({ plan: Plan } | { plan: undefined; row: ProfileRow });

async function upsertTogether(
  context: ProfileContext,
  property: string,
  items: readonly Item[],
  skipContended: boolean,
): Promise<void> {
  let open = items;
  for (let round = 1; open.length > 0; round++) {
    if (skipContended && round > roundsMax) {
      for (const item of open) item.outcome = "contended";
      return;
    }
    const turn = openTurn(context, property);
    const { ready, later } = await separate(turn, open);
    const all: Planned[] = [];
    const alone: Item[] = [];
    for (const [item, holders] of ready) {
      const planned = await settling(item.request, () => planUpsert(turn, item, holders));
      if (planned instanceof DaybookError) item.outcome = planned;
      else if (planned.plan && isCompound(planned.plan)) alone.push(item);
      else all.push(planned);
    }
    const rows = await writeUnlessLost(context, turn, all);
    for (const [index, { item, created }] of all.entries()) {
      const row = rows[index];
      if (row) item.outcome = { row, created, replayed: false };
      else alone.push(item);
    }
    await closeTurn(context, turn);
    for (const item of alone) {
      if (skipContended) item.outcome = "contended";
      else await upsertAlone(context, property, item);
    }
    open = later;
  }
}

/** Separates items that have an identifier or a profile in common: the first of them is ready, with those who have its identifiers. */
async function separate(
  turn: Turn,
  items: readonly Item[],
): Promise<{ ready: Map<Item, ProfileRow[]>; later: Item[] }> {
  const holderOf = new Map<string, ProfileRow>();
  for (const row of await findHolders(
    turn,
    items.flatMap(({ identifiers }) => identifiers),
  )) {
    for (const identifier of row.identifiers) holderOf.set(identifierKey(identifier), row);
  }
  const ready = new Map<Item, ProfileRow[]>();
  const later: Item[] = [];
  const taken = new Set<string>();
  for (const item of items) {
    const keys = item.identifiers.map(identifierKey);
    const holders = [...new Set(keys.flatMap((key) => holderOf.get(key) ?? []))];
    const names = [...keys, ...holders.map(({ id }) => id)];
    // What waits takes its names too, so that whoever comes after it stays after it.
    if (names.some((name) => taken.has(name))) later.push(item);
    else ready.set(item, holders);
    for (const name of names) taken.add(name);
  }
  return { ready, later };
}

function planUpsert(turn: Turn, item: Item, holders: readonly ProfileRow[]): Planned {
  const { request, identifiers, operation } = item;
  const decision = decide(request, identifiers, holders);
  if ("made" in decision) return { item, plan: planInsert({ ...turn, operation }, decision.made), created: true };
  const plan = planEdit(turn, decision.row, decision.edit);
  return plan ? { item, plan, created: false } : { item, plan, created: false, row: decision.row };
}

/**
 * Writes what is planned, with the operations that it belongs to.
 * @returns for each, in order, the profile as it then is; undefined for one that was not as the plan takes it to be. Somebody else may have been
 * given an identifier meanwhile, or be at the same operation, or there may be room for some of it only: then nothing is done, and each is to be
 * done by itself.
 */
async function writeUnlessLost(
  { database }: ProfileContext,
  turn: Turn,
  all: readonly Planned[],
): Promise<(ProfileRow | undefined)[]> {
  const write = async (on: Turn): Promise<(ProfileRow | undefined)[]> => {
    const plans = all.flatMap(({ plan }) => plan ?? []);
    const written = plans.length > 0 ? await execute(on, plans) : [];
    const rows = written.values();
    return all.map((planned) => (planned.plan ? rows.next().value : planned.row));
  };
  try {
    if (all.every(({ item }) => item.operation === undefined)) return await write(turn);
    return await withTransaction(database, async (tx) => {
      const inTransaction = Object.assign(turn, { database: tx, tx, attributes: [] });
      const rows = await write(inTransaction);
      const done = all.flatMap(({ item: { operation }, created }, index): DoneOperation[] => {
        const row = rows[index];
        return row && operation !== undefined
          ? [{ operation, profile: row.id, note: { created, replayed: false } }]
          : [];
      });
      if (done.length > 0) await recordOperations(inTransaction, done);
      return rows;
    });
  } catch (error) {
    const isLost = error instanceof LostRace || isUniqueViolation(error) || isTransient(error);
    if (!isLost && !(error instanceof DaybookError)) throw error;
    return all.map(() => undefined);
  }
}

async function upsertAlone(context: ProfileContext, property: string, item: Item): Promise<void> {
  item.outcome = await upsert(context, property, item.request).catch((error: unknown) => {
    if (error instanceof DaybookError) return error;
    throw error;
  });
}

/** Does what may be refused, and gives the refusal as a value. */
async function settling<T>(request: UpsertProfileRequest, work: () => T): Promise<T | DaybookError> {
  try {
    return await listingFaults(request, () => Promise.resolve().then(work));
  } catch (error) {
    if (error instanceof DaybookError) return error;
    throw error;
  }
}
