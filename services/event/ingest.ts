/**
 * Ingestion: checks events, resolves their profiles, and stores each event once, with one outcome per item.
 * Each stage settles some items and passes the others on in their next form: EventInput, Checked, Resolved.
 */
import type { CallOptions } from "@connectrpc/connect";
import type { Event, EventInput, RequestClaim } from "#proto/daybook/event/v1/event_pb.ts";
import { isUniqueViolation } from "#shared/database/failures.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import type { Micros } from "#shared/values/clock.ts";
import { count } from "#shared/values/count.ts";
import { DaybookError, settleNow } from "#shared/values/errors.ts";
import { decodeId, encodeId, type Uuid } from "#shared/values/ids.ts";
import { makesProfile } from "#shared/values/identifiers.ts";
import { metricsMax } from "#shared/values/limits.ts";
import type { EventContext } from "./context.ts";
import { findHeldEvents, firstOfEachKey } from "./dedupe.ts";
import { among } from "./domain/among.ts";
import { prepareEvent, type PreparedEvent } from "./domain/prepare.ts";
import type { ResolvedEvent } from "./domain/resolved.ts";
import { checkHeld } from "./low-watermark.ts";
import { toEvent } from "./mapping.ts";
import { addFormerProfiles, resolveProfiles, type Resolution } from "./resolving.ts";
import { readRecorded, readRequest, requestHeld } from "./requests.ts";
import { readEvents } from "./sql/events.ts";
import { storeEvents } from "./storing.ts";

/** The result of one item. */
export type Outcome = Stored | DaybookError;

/** An event that is stored. */
export interface Stored {
  event: Event;
  /** Stored before this call, or by another item. */
  isKnown: boolean;
  /** Stored for another request or another item with the same key. */
  replayed: boolean;
  /** TypeID of the merged profile that the item named. */
  resolvedFrom: string | undefined;
}

/** An item that passed all checks that need no database. */
interface Checked extends PreparedEvent {
  /** The index of the item, and of its outcome. */
  at: number;
  input: EventInput;
  request: RequestClaim | undefined;
}

type Resolved = Checked & ResolvedEvent;

/** One call of `ingest`. */
interface Ingestion {
  context: EventContext;
  property: Uuid;
  /** received_at of all items. */
  now: Micros;
  /** For calls to other services. */
  options: CallOptions;
  outcomes: (Outcome | undefined)[];
}

// Each round settles at least one item per contested key. More rounds occur only if other processes race for the keys.
const roundsMax = 10;

/**
 * Stores events of one property.
 * @param options for calls to other services.
 * @returns one outcome per input, in order.
 */
export function ingest(
  context: EventContext,
  property: Uuid,
  inputs: readonly EventInput[],
  options: CallOptions,
): Promise<Outcome[]> {
  context.relay.checkRoom();
  return context.watermark.hold(async (now) => {
    const ingestion: Ingestion = { context, property, now, options, outcomes: [] };
    const checked = await check(ingestion, inputs);
    const isRetry = ({ input }: Checked): boolean => !input.operationIsNew;
    await storeOnce(ingestion, await among(checked, isRetry, (items) => skipStored(ingestion, items)));
    return inputs.map((_, at) => {
      const outcome = ingestion.outcomes[at];
      if (outcome === undefined) throw new Error("an item was not settled");
      return outcome;
    });
  });
}

async function storeOnce(ingestion: Ingestion, items: readonly Checked[]): Promise<void> {
  const free = await skipHeld(ingestion, await refuseRepeatedRequests(ingestion, items));
  // Types before profiles, because an event that is refused must not create a profile.
  const resolved = await resolve(ingestion, await refuseTypes(ingestion, free));
  // A unique_id is a key only together with its profile.
  const hasUniqueId = ({ uniqueId }: Resolved): boolean => uniqueId !== undefined;
  let open = await among(resolved, hasUniqueId, (unique) => skipHeld(ingestion, unique));
  for (let round = 1; open.length > 0; round++) {
    if (round > roundsMax) throw new Error("keys kept changing hands");
    await store(ingestion, firstOfEachKey(open));
    open = await skipStored(ingestion, await skipHeld(ingestion, stillOpen(ingestion, open)));
  }
}

async function check({ context, now, outcomes }: Ingestion, inputs: readonly EventInput[]): Promise<Checked[]> {
  const steps = new Steps();
  const checked: Checked[] = [];
  for (const [at, input] of inputs.entries()) {
    await steps.next();
    const item = settleNow((): Checked | Stored => {
      const { operationId, recorded } = input;
      // The outcome of an item whose request was done before.
      if (recorded !== undefined) return { ...readRecorded(recorded, input), isKnown: false, replayed: false };
      const request = readRequest(input, context.requests);
      const operation = operationId === undefined ? undefined : decodeId("op", operationId, "operation_id");
      return Object.assign(prepareEvent(input, now), { operation, at, input, request });
    });
    if (item instanceof DaybookError || "event" in item) outcomes[at] = item;
    else checked.push(item);
  }
  return checked;
}

/** Settles the items whose request has the key of an item before them, and looks keys up if one was held lately. */
async function refuseRepeatedRequests(ingestion: Ingestion, items: readonly Checked[]): Promise<Checked[]> {
  const { context, outcomes } = ingestion;
  if (!items.some(({ request }) => request)) return [...items];
  const first = new Map(items.toReversed().flatMap((item) => (item.request ? [[item.request.key, item]] : [])));
  for (const item of items) {
    if (item.request && first.get(item.request.key) !== item) outcomes[item.at] = requestHeld();
  }
  const open = stillOpen(ingestion, items);
  return context.requests?.looksFirst() ? refuseHeldRequests(ingestion, open) : open;
}

/** Settles the items whose requests have a key that is held. */
async function refuseHeldRequests<Item extends Checked>(ingestion: Ingestion, items: readonly Item[]): Promise<Item[]> {
  const { context, property, now, outcomes } = ingestion;
  const keys = items.flatMap(({ request }) => request?.key ?? []);
  if (!context.requests || keys.length === 0) return [...items];
  const held = await context.requests.findHeld(context.database, property, keys, now);
  for (const { request, at } of items) if (request && held.has(request.key)) outcomes[at] = requestHeld();
  return stillOpen(ingestion, items);
}

/** Settles the items whose operations have already stored their events. */
async function skipStored<Item extends Checked>(ingestion: Ingestion, items: readonly Item[]): Promise<Item[]> {
  const { context, property, outcomes } = ingestion;
  const ids = items.flatMap(({ operation }) => operation ?? []);
  if (ids.length === 0) return [...items];
  const rows = await readEvents(context.database, [property, ids]);
  const stored = new Map(rows.map((row) => [row.id, toEvent(row)]));
  for (const item of items) {
    const event = item.operation && stored.get(item.operation);
    if (event) outcomes[item.at] = toKnown(item, event);
  }
  return stillOpen(ingestion, items);
}

/** Settles the items whose keys are already held. */
async function skipHeld<Item extends Checked>(ingestion: Ingestion, items: readonly Item[]): Promise<Item[]> {
  const { context, property, now, outcomes } = ingestion;
  const held = await findHeldEvents(context.database, property, items, now);
  for (const [index, item] of items.entries()) {
    const found = held[index];
    if (found) outcomes[item.at] = found.otherItem ? keyReused() : toKnown(item, found.event);
  }
  return stillOpen(ingestion, items);
}

/** Settles the items whose type would exceed the limit of types. */
async function refuseTypes(ingestion: Ingestion, items: readonly Checked[]): Promise<Checked[]> {
  const { context, property, outcomes } = ingestion;
  // A request whose key is held adds no type.
  const isNew = ({ type, request }: Checked): boolean =>
    request !== undefined && !context.types.isKnown(property, type);
  const free = await among(items, isNew, (some) => refuseHeldRequests(ingestion, some));
  const refused = await context.types.admit(
    property,
    free.map(({ type }) => type),
  );
  if (refused.size === 0) return free;
  for (const { type, at } of free) if (refused.has(type)) outcomes[at] = tooManyTypes();
  return stillOpen(ingestion, free);
}

/** Resolves the profiles of items, and settles the items that have an invalid reference. */
async function resolve(ingestion: Ingestion, items: readonly Checked[]): Promise<Resolved[]> {
  const { context, property, options, outcomes } = ingestion;
  const resolutions = await resolveAll(ingestion, items);
  const resolved: Resolved[] = [];
  for (const item of stillOpen(ingestion, items)) {
    const resolution = resolutions.get(item);
    if (!resolution) throw new Error("a reference was not answered");
    if (resolution instanceof DaybookError) outcomes[item.at] = resolution;
    else resolved.push(Object.assign(item, resolution, { id: item.operation }));
  }
  await addFormerProfiles(
    context,
    property,
    resolved.filter(({ uniqueId }) => uniqueId !== undefined),
    options,
  );
  return resolved;
}

/** A request whose key is held makes no profile: before any is made, the keys are looked up. */
async function resolveAll(
  ingestion: Ingestion,
  items: readonly Checked[],
): Promise<Map<Checked, Resolution | DaybookError>> {
  const { context, property, options } = ingestion;
  const resolutions = new Map<Checked, Resolution | DaybookError>();
  const resolveSome = async (some: readonly Checked[], findOnly: boolean): Promise<void> => {
    const references = some.map(({ input }) => input.profile ?? {});
    const found = await resolveProfiles(context, property, references, options, { findOnly });
    for (const [index, resolution] of found.entries()) resolutions.set(some[index] as Checked, resolution);
  };
  const findOnly = items.some(({ request }) => request);
  await resolveSome(items, findOnly);
  if (!findOnly) return resolutions;
  const isNew = (item: Checked): boolean => {
    const resolution = resolutions.get(item);
    return resolution !== undefined && "identifier" in resolution && makesProfile(resolution.identifier?.type ?? "");
  };
  await resolveSome(await refuseHeldRequests(ingestion, items.filter(isNew)), false);
  return resolutions;
}

/** Stores items, and settles those that got all of their keys. */
async function store({ context, property, now, outcomes }: Ingestion, items: readonly Resolved[]): Promise<void> {
  checkHeld(context.clock, now);
  const events = await storeEvents(context, property, items, now).catch((error: unknown) => {
    // Another process stored the event of one of the operations first. The next skipStored finds it.
    if (isUniqueViolation(error)) return undefined;
    throw error;
  });
  if (!events) return;
  context.relay.wake();
  for (const [index, { at, resolvedFrom }] of items.entries()) {
    const event = events[index];
    if (event instanceof DaybookError) outcomes[at] = event;
    else if (event) outcomes[at] = { event, isKnown: false, replayed: false, resolvedFrom };
  }
}

function stillOpen<Item extends Checked>({ outcomes }: Ingestion, items: readonly Item[]): Item[] {
  return items.filter(({ at }) => outcomes[at] === undefined);
}

/** The outcome of an item whose event is already stored: a replay, unless the item's own operation stored the event. */
function toKnown(
  { operation, input, resolvedFrom }: Checked & { resolvedFrom?: string | undefined },
  event: Event,
): Stored {
  const isOwn = operation !== undefined && event.id === encodeId("evt", operation);
  return isOwn
    ? { event, isKnown: true, replayed: false, resolvedFrom: mergedIdIn(input, event) }
    : { event, isKnown: true, replayed: true, resolvedFrom };
}

/** The merged profile that an item named, if its event was stored for another profile. */
function mergedIdIn({ profile }: EventInput, { profileId }: Event): string | undefined {
  if (profile?.reference.case !== "profileId") return undefined;
  const named = encodeId("prof", decodeId("prof", profile.reference.value, "profile_id"));
  return named === profileId ? undefined : named;
}

function tooManyTypes(): DaybookError {
  const message =
    `The property has events of ${count(metricsMax)} types, and can have no more. ` +
    "Send this event with a type that is there.";
  return new DaybookError("too_many_items", message, { param: "type" });
}

function keyReused(): DaybookError {
  const message = "`idempotency_key` was used for another event. Send a new key with a new event.";
  return new DaybookError("idempotency_key_reused", message, { param: "idempotency_key" });
}
