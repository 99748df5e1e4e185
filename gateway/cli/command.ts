import { bindable, type BoundClient } from "#shared/rpc/clients.ts";
import { callOptions } from "#shared/rpc/interceptors.ts";
import { bindableServices, type Clients, type Services } from "../clients.ts";

/** Options of commands, each with its value and description. */
export const optionTexts = {
  property: ["<property id>", "the property that it is about; properties list shows them"],
  mode: ["live|test", "of a new property: real data or trials, for good"],
  currency: ["<code>", "of values that come without one over the compatibility surface; USD unless it is said"],
  timezone: ["<name>", "of a property, an IANA name; UTC unless it is said"],
  name: ["<name>", "the new name of a property or an app"],
  scopes: ["<scope,…>|all", "what a new key may do; of an app, the most that an installation may have, without all"],
  app: ["<app id>", "the app that it is about; apps list shows them"],
  type: ["confidential|public", "of a new app: whether it can keep a secret, for good"],
  "redirect-uris": ["<uri …>", "where an app has browsers sent back to: 1 to 10 addresses with spaces between"],
  description: ["<text>", "what an app does, for those who are asked for consent, or what an endpoint is for"],
  homepage: ["<url>", "where to read more of an app, an https address"],
  "webhook-url": ["<url>", "where messages about the installations of an app are sent, an https address"],
  "webhook-types": [
    "<type,…>|*",
    "what messages are sent to an app; its installations get those that their scopes allow",
  ],
  types: ["<type,…>|*", "what messages an endpoint is sent"],
  "event-types": ["<type,…>", "the types of events that an endpoint is sent, such as order.*; all unless it is said"],
  url: ["<url>", "the new address of an endpoint"],
  status: ["<status>", "enabled or disabled; of deliveries: pending, delivered, failed or cancelled"],
  endpoint: ["<endpoint id>", "whose deliveries"],
  from: ["<time>", "the first instant of a replay, ISO 8601 with an offset or Z"],
  to: ["<time>", "the end of a replay"],
  only: ["failed|all", "what a replay sends; failed unless it is said"],
  grace: ["<seconds>", "for how long messages are signed with the secret before, too; a day unless it is said"],
  methods: [
    "<method,…>",
    "what a client may call: daybook.event.v1.EventService/ListEvents, or …/* for all of a service",
  ],
  expires: ["<time>", "when a new key ends, ISO 8601 with an offset or Z; never unless it is said"],
  revision: ["<date>", "the API revision of a new key, or of messages; the newest unless it is said"],
  "rate-limit": ["<requests>", "how many a new key may make a minute; as for all keys unless it is said"],
  "rate-limit-backfill": ["<requests>", "the same for batches with backfill"],
  role: ["admin|developer|support|viewer", "what a member may do, in all properties or in that of --property"],
  reference: ["<text>", "your own name of a privacy request, without personal data"],
  regulation: ["gdpr|ccpa|other", "by which a person asks"],
  submitted: ["<time>", "when the person asked, ISO 8601 with an offset or Z; now unless it is said"],
  "not-before": ["<time>", "when a privacy request begins, at most 30 days ahead; at once unless it is said"],
  suppress: ["yes|no", "of an erasure: whether later writes with the identifiers are refused; no unless it is said"],
  code: ["<code>", "of refused writes: only those with this code"],
  overlap: ["<hours>", "for how long a key goes on beside the one that replaces it; 24 unless it is said"],
} as const;

export type OptionName = keyof typeof optionTexts;

export interface Arguments {
  /** Arguments after the name. */
  words: string[];
  options: Partial<Record<OptionName, string>>;
}

/** The output of a command, for people and for programs. */
export interface Result {
  text: string;
  json: unknown;
}

/** The services bound to the operator. */
export interface OperatorServices extends Services {
  internalClients: BoundClient<Clients["internalClients"]>;
  /** The address that people open, if anything says it. */
  publicUrl: string | undefined;
  outboxes: { [Name in keyof Clients["outboxes"]]: BoundClient<Clients["outboxes"][Name]> };
}

export interface Command {
  name: string;
  /** The syntax of the arguments. */
  usage: string;
  summary: string;
  /** Number of arguments. */
  words: [min: number, max: number];
  /** Required options. */
  options: readonly OptionName[];
  /** Optional options. */
  optional?: readonly OptionName[];
  /** Requires --yes, because its effect cannot be undone; or whether it does, where the arguments decide. */
  isIrreversible?: true | ((given: Arguments) => boolean);
  run(services: OperatorServices, given: Arguments): Promise<Result>;
}

const timeoutMs = 60_000;

export function bindToOperator(clients: Clients, publicUrl: string | undefined): OperatorServices {
  // Records of merges and the services' logs name this caller.
  const options = callOptions({ requestId: "", caller: "operator" }, timeoutMs);
  const { event, profile, metric } = clients.outboxes;
  return {
    ...bindableServices(clients)(options),
    internalClients: bindable(clients.internalClients)(options),
    publicUrl,
    outboxes: {
      event: bindable(event)(options),
      profile: bindable(profile)(options),
      metric: bindable(metric)(options),
    },
  };
}

/** A message that every answer has. */
export function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the answer is not whole");
  return value;
}

/** Reads a list with commas between. */
export function readList(text: string): string[] {
  return text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

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
