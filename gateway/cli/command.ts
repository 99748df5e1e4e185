/** What a command is. */
import { bindable, type BoundClient } from "#shared/rpc/clients.ts";
import { callOptions } from "#shared/rpc/interceptors.ts";
import { bindableServices, type Clients, type Services } from "../clients.ts";

/** What a command may be told beside its words. */
export const optionTexts = {
  property: ["<property id>", "the property that it is about; properties list shows them"],
  mode: ["live|test", "of a new property: real data or trials, for good"],
  currency: ["<code>", "of values that come without one over the compatibility surface; USD unless it is said"],
  timezone: ["<name>", "of a property, an IANA name; UTC unless it is said"],
  name: ["<name>", "the new name of a property"],
  scopes: ["<scope,…>|all", "what a new key may do"],
  expires: ["<time>", "when a new key ends, ISO 8601 with an offset or Z; never unless it is said"],
  revision: ["<date>", "the API revision that a new key is pinned to; the newest unless it is said"],
  "rate-limit": ["<requests>", "how many a new key may make a minute; as for all keys unless it is said"],
  "rate-limit-backfill": ["<requests>", "the same for batches with backfill"],
  overlap: ["<hours>", "for how long a key goes on beside the one that replaces it; 24 unless it is said"],
} as const;

/** The name of an option. */
export type OptionName = keyof typeof optionTexts;

/** What a command is given. */
export interface Arguments {
  /** What stands behind its name. */
  words: string[];
  options: Partial<Record<OptionName, string>>;
}

/** What a command says, to people and to programs. */
export interface Result {
  text: string;
  json: unknown;
}

/** The services on behalf of the operator. */
export interface OperatorServices extends Services {
  outboxes: { [Name in keyof Clients["outboxes"]]: BoundClient<Clients["outboxes"][Name]> };
}

/** A command. */
export interface Command {
  /** Two words. */
  name: string;
  /** What stands behind them. */
  usage: string;
  summary: string;
  /** How many words at least and at most. */
  words: [min: number, max: number];
  /** Options that it must be given. */
  options: readonly OptionName[];
  /** Options that it may be given. */
  optional?: readonly OptionName[];
  /** What it does cannot be undone. */
  isIrreversible?: true;
  run(services: OperatorServices, given: Arguments): Promise<Result>;
}

// The record of a merge, and the services' logs, name operators so.
const timeoutMs = 60_000;

/** Binds clients to the operator. */
export function bindToOperator(clients: Clients): OperatorServices {
  const options = callOptions({ requestId: "", caller: "operator" }, timeoutMs);
  const { event, profile } = clients.outboxes;
  return {
    ...bindableServices(clients)(options),
    outboxes: { event: bindable(event)(options), profile: bindable(profile)(options) },
  };
}

/** Reads all pages of a list. */
export async function readAll<Item>(
  readPage: (after: Item | undefined) => Promise<{ items: Item[]; hasMore: boolean }>,
): Promise<Item[]> {
  const all: Item[] = [];
  for (let hasMore = true; hasMore;) {
    const page = await readPage(all.at(-1));
    all.push(...page.items);
    ({ hasMore } = page);
  }
  return all;
}
