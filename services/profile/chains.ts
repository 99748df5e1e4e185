/** Chains: upserts of the same profile, decided one after the other and written at once. */
import { DaybookError, settleNow } from "#shared/values/errors.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import { Attributes } from "./domain/attributes.ts";
import { identifierKey } from "#shared/values/identifiers.ts";
import { findHoldersAndSuppressed, suppressionOf } from "./holders.ts";
import type { ProfileRow } from "./sql/profiles.ts";
import type { Attempt } from "./attempts.ts";
import { decide, type Upsert } from "./upsert.ts";
import { isCompound, planEdit, planInsert, type Plan } from "./writing.ts";

/** Upserts of the same profile, in order. If there is more than one, all have the same single holder. */
export interface Chain<Item extends Upsert> {
  /** The profiles that have any identifier of the first upsert. */
  holders: readonly ProfileRow[];
  items: Item[];
}

/** The result of an upsert of a chain: the profile after it, or the error. */
export type Step<Item> = { item: Item } & ({ row: ProfileRow; created: boolean } | { error: DaybookError });

/** A chain with its planned write. */
export interface PlannedChain<Item> {
  steps: Step<Item>[];
  /** The write of all steps together; undefined when they change nothing. */
  plan: Plan | undefined;
}

/**
 * Separates upserts into independent chains. An upsert that overlaps with earlier ones goes to `later`, unless it has
 * the same single holder as their chain: it concerns several profiles, or one that an earlier upsert may create. One
 * with a suppressed identifier is refused.
 */
export async function separate<Item extends Upsert>(
  attempt: Attempt,
  items: readonly Item[],
): Promise<{ chains: Chain<Item>[]; later: Set<Item>; refused: Map<Item, DaybookError> }> {
  const holderOf = new Map<string, ProfileRow>();
  const wanted = items.flatMap(({ identifiers }) => identifiers);
  const { holders: all, suppressed } = await findHoldersAndSuppressed(attempt, wanted);
  for (const row of all) {
    for (const identifier of row.identifiers) holderOf.set(identifierKey(identifier), row);
  }
  const open = new Set<Chain<Item>>();
  const chains: Chain<Item>[] = [];
  const later = new Set<Item>();
  // The chain of each identifier and profile; undefined once a later upsert needs it.
  const taken = new Map<string, Chain<Item> | undefined>();
  const refused = new Map<Item, DaybookError>();
  for (const item of items) {
    const refusal = suppressed.size === 0 ? undefined : suppressionOf(item.identifiers, suppressed);
    if (refusal) {
      refused.set(item, refusal);
      continue;
    }
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
        // Upserts that follow must stay behind this one.
        for (const blocked of before) if (blocked) open.delete(blocked);
      }
    }
    for (const name of names) taken.set(name, chain);
  }
  return { chains, later, refused };
}

function isOnlyHolder(chain: Chain<Upsert>, [holder, another]: readonly ProfileRow[]): boolean {
  return chain.holders.length === 1 && another === undefined && holder === chain.holders[0];
}

/**
 * Plans the upserts of a chain in order.
 * @returns also `compound`, the first upsert if it needs several statements, and `rest`, the upserts left for later.
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

/** Joins two plans of the same profile, the second of which begins where the first ends. Neither is compound. */
function join(first: Plan, second: Plan): Plan {
  return {
    ...second,
    version: first.version,
    added: [...first.added, ...second.added],
    attributes: second.attributes ?? first.attributes,
    messages: [...first.messages, ...second.messages],
  };
}
