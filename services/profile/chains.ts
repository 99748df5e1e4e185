/** Upserts that concern the same profile, decided one after the other and written at once. */
import type { UpsertProfileRequest } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError, settleNow } from "#shared/values/errors.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import { Attributes } from "./domain/attributes.ts";
import { identifierKey, type WantedIdentifier } from "#shared/values/identifiers.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { findHolders } from "./holders.ts";
import type { ProfileRow } from "./sql/profiles.ts";
import type { Attempt } from "./attempts.ts";
import { decide } from "./upsert.ts";
import { isCompound, planEdit, planInsert, type Plan } from "./writing.ts";

/** An upsert that is read. */
export interface Upsert {
  request: UpsertProfileRequest;
  identifiers: readonly WantedIdentifier[];
  /** The UUID of its operation, if it is of one. */
  operation: Uuid | undefined;
}

/** Upserts that write to the same profile, in order. More than one have one holder, who is the same for all. */
export interface Chain<Item extends Upsert> {
  /** The profiles that have any of the identifiers of the first. */
  holders: readonly ProfileRow[];
  items: Item[];
}

/** What an upsert of a chain comes to: the profile after it, or why it is refused. */
export type Step<Item> = { item: Item } & ({ row: ProfileRow; created: boolean } | { error: DaybookError });

/** A chain of which it is decided what is written. */
export interface PlannedChain<Item> {
  steps: Step<Item>[];
  /** All steps together; undefined when they would change nothing. */
  plan: Plan | undefined;
}

/**
 * Separates upserts into chains that have nothing to do with each other. Those that have to do with several profiles, or with a profile that may
 * be made before them, are later.
 */
export async function separate<Item extends Upsert>(
  attempt: Attempt,
  items: readonly Item[],
): Promise<{ chains: Chain<Item>[]; later: Set<Item> }> {
  const holderOf = new Map<string, ProfileRow>();
  for (const row of await findHolders(
    attempt,
    items.flatMap(({ identifiers }) => identifiers),
  )) {
    for (const identifier of row.identifiers) holderOf.set(identifierKey(identifier), row);
  }
  const open = new Set<Chain<Item>>();
  const chains: Chain<Item>[] = [];
  const later = new Set<Item>();
  // Who has to do with an identifier or a profile; nobody any more once somebody waits for it.
  const taken = new Map<string, Chain<Item> | undefined>();
  for (const item of items) {
    const keys = item.identifiers.map(identifierKey);
    const holders = [...new Set(keys.flatMap((key) => holderOf.get(key) ?? []))];
    const names = [...keys, ...holders.map(({ id }) => id)];
    const before = new Set(names.filter((name) => taken.has(name)).map((name) => taken.get(name)));
    let chain: Chain<Item> | undefined;
    if (before.size === 0) {
      chain = { holders, items: [item] };
      chains.push(chain);
      open.add(chain);
    } else {
      const [only] = before;
      if (before.size === 1 && only && open.has(only) && isOnlyHolder(only, holders)) {
        chain = only;
        chain.items.push(item);
      } else {
        later.add(item);
        // Whoever comes after it stays after it.
        for (const one of before) if (one) open.delete(one);
      }
    }
    for (const name of names) taken.set(name, chain);
  }
  return { chains, later };
}

function isOnlyHolder(chain: Chain<Upsert>, [holder, another]: readonly ProfileRow[]): boolean {
  return chain.holders.length === 1 && another === undefined && holder === chain.holders[0];
}

/**
 * Decides what the upserts of a chain come to, each after those before it.
 * @returns also the first one that takes more than one statement, if it is the first of all, and those that are left for later.
 */
export async function planChain<Item extends Upsert>(
  attempt: Attempt,
  { holders, items }: Chain<Item>,
): Promise<PlannedChain<Item> & { compound: Item | undefined; rest: Item[] }> {
  const pauses = new Steps();
  const steps: Step<Item>[] = [];
  let plan: Plan | undefined;
  const [holder] = holders;
  let row = holders.length === 1 ? holder : undefined;
  const attributes = row && new Attributes(row.attributes);
  for (const [index, item] of items.entries()) {
    await pauses.next();
    const planned = settleNow(() => planUpsert(attempt, item, row ? [row] : holders, attributes));
    if (planned instanceof DaybookError) {
      steps.push({ item, error: planned });
      if (row) attributes?.revertTo(row.attributes);
      continue;
    }
    const { plan: next, created } = planned;
    if (next && isCompound(next)) {
      const isFirst = index === 0;
      return { steps, plan, compound: isFirst ? item : undefined, rest: items.slice(isFirst ? 1 : index) };
    }
    steps.push({ item, row: planned.row, created });
    if (next) plan = plan ? join(plan, next) : next;
    if (row) row = planned.row;
  }
  return { steps, plan, compound: undefined, rest: [] };
}

function planUpsert(
  attempt: Attempt,
  { request, identifiers, operation }: Upsert,
  holders: readonly ProfileRow[],
  attributes: Attributes | undefined,
): { plan: Plan | undefined; row: ProfileRow; created: boolean } {
  const decision = decide(request, identifiers, holders, attributes);
  if ("made" in decision) {
    const plan = planInsert({ ...attempt, operation }, decision.made);
    return { plan, row: plan.row, created: true };
  }
  const plan = planEdit(attempt, decision.row, decision.edit);
  return { plan, row: plan?.row ?? decision.row, created: false };
}

/** One plan of two for the same profile, the second of which begins where the first ends. Neither is compound. */
function join(first: Plan, second: Plan): Plan {
  return {
    ...second,
    version: first.version,
    added: [...first.added, ...second.added],
    attributes: second.attributes ?? first.attributes,
    messages: [...first.messages, ...second.messages],
  };
}
