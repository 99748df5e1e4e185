/** Recording of events as callers write them, each with an outcome of its own: checked, given to their profiles, and kept once. */
import type { CallOptions } from "@connectrpc/connect";
import type { Event, EventInput } from "#proto/daybook/event/v1/event_pb.ts";
import type { ProfileResolution } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { fromErrorMessage } from "#shared/rpc/errors.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import { calling } from "#shared/rpc/interceptors.ts";
import { metricsMax } from "#shared/values/limits.ts";
import { isUniqueViolation } from "#shared/database/failures.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import { count } from "#shared/values/count.ts";
import type { EventContext } from "./context.ts";
import { findHeldEvents, firstOfEachKey, type HeldEvent } from "./dedupe.ts";
import { prepareEvent, type PreparedEvent } from "./domain/prepare.ts";
import { checkHeld } from "./floor.ts";
import { toEvent } from "./mapping.ts";
import type { Recordable } from "./domain/recordable.ts";
import { recordEvents } from "./recorder.ts";
import { readEvents } from "./sql/events.ts";

/** What became of an event. */
export type Outcome = RecordedOutcome | DaybookError;

/** An event that is on record. */
interface RecordedOutcome {
  event: Event;
  /** It was on record before. */
  isKnown: boolean;
  /** Another request, or another item, has recorded it. */
  replayed: boolean;
  resolvedFrom: string | undefined;
}

// An item that is not first with its keys has its turn after those that are. More turns take another process that claims the same keys.
const turnsMax = 10;

/** An item on its way: whatever is decided of it stands in `outcome`. */
interface Item {
  input: EventInput;
  /** A Recordable once its profile is known. */
  prepared: PreparedEvent | Recordable;
  resolvedFrom?: string;
  outcome?: Event | HeldEvent | DaybookError;
}

/**
 * Records events of one property.
 * @param options of the calls that this takes.
 * @returns what became of each, in order.
 */
export function record(
  context: EventContext,
  propertyId: string,
  inputs: readonly EventInput[],
  options: CallOptions,
): Promise<Outcome[]> {
  const { database, clock, profiles, relay, floor, types } = context;
  const property = decodeId("prop", propertyId, "property_id");
  relay.checkRoom();
  return floor.hold(recordAll);

  async function recordAll(now: Micros): Promise<Outcome[]> {
    const results: (Item | DaybookError)[] = [];
    const steps = new Steps();
    for (const input of inputs) {
      await steps.next();
      results.push(prepare(input, now));
    }
    const items = results.filter((result): result is Item => !(result instanceof DaybookError));

    await settleKnown(items.filter(({ input }) => !input.operationIsNew));
    await replay(items.filter(isOpen), now);
    await refuseTypes(items.filter(isOpen));
    let open = await resolve(items.filter(isOpen));
    // Whose they are is part of some keys.
    await replay(
      open.filter(({ prepared }) => prepared.uniqueId !== undefined),
      now,
    );
    open = open.filter(isOpen);
    for (let turn = 1; open.length > 0; turn++) {
      if (turn > turnsMax) throw new Error("keys kept changing hands");
      const first = new Set(firstOfEachKey(open.map(toRecordable)));
      await recordOnce(
        open.filter((item) => first.has(toRecordable(item))),
        now,
      );
      await replay(open.filter(isOpen), now);
      open = open.filter(isOpen);
      await settleKnown(open);
      open = open.filter(isOpen);
    }
    return results.map(toOutcome);
  }

  /** Settles the items that their operations have recorded before. */
  async function settleKnown(items: readonly Item[]): Promise<void> {
    const ids = items.flatMap(({ prepared }) => prepared.operation ?? []);
    if (ids.length === 0) return;
    const known = new Map((await readEvents(database, [property, ids])).map((row) => [row.id, toEvent(row)]));
    for (const item of items) {
      const event = known.get(item.prepared.operation ?? "");
      if (event) item.outcome = { event, otherItem: false };
    }
  }

  /** Settles the items whose keys are held already. */
  async function replay(items: readonly Item[], now: Micros): Promise<void> {
    const prepared = items.map((item) => item.prepared);
    for (const [index, event] of (await findHeldEvents(database, property, prepared, now)).entries()) {
      const item = items[index];
      if (item && event) item.outcome = event.otherItem ? keyReused() : event;
    }
  }

  /** Settles the items whose type would be one too many. */
  async function refuseTypes(items: readonly Item[]): Promise<void> {
    const refused = await types.admit(
      property,
      items.map(({ prepared }) => prepared.type),
    );
    if (refused.size === 0) return;
    for (const item of items) if (refused.has(item.prepared.type)) item.outcome = tooManyTypes();
  }

  /** Records items, settling those that get all of their keys. */
  async function recordOnce(items: readonly Item[], now: Micros): Promise<void> {
    checkHeld(clock, now);
    const events = await recordEvents(database, property, items.map(toRecordable), now).catch((error: unknown) => {
      if (isUniqueViolation(error)) return undefined;
      throw error;
    });
    // Somebody else is at one of the operations, and has recorded its event first: it is known now.
    if (!events) return;
    relay.wake();
    for (const [index, item] of items.entries()) {
      const event = events[index];
      if (event) item.outcome = event;
    }
  }

  /** Finds out whose the items are, settling those of nobody that exists. @returns the others. */
  async function resolve(items: readonly Item[]): Promise<Item[]> {
    if (items.length === 0) return [];
    const references = items.map(({ input }) => input.profile ?? {});
    const { resolutions } = await calling(profiles.resolveProfiles({ propertyId, references }, options));
    const resolved: Item[] = [];
    for (const [index, item] of items.entries()) {
      const resolution = resolutions[index];
      if (!resolution) throw new Error("a reference was not answered");
      const profile = toProfileFields(resolution);
      if (resolution.outcome.case === "profile" && resolution.outcome.value.resolvedFrom !== undefined) {
        item.resolvedFrom = resolution.outcome.value.resolvedFrom;
      }
      if (profile instanceof DaybookError) {
        item.outcome = profile;
        continue;
      }
      item.prepared = { ...item.prepared, ...profile, id: item.prepared.operation };
      resolved.push(item);
    }
    await addFormerProfiles(resolved.map(toRecordable).filter(({ uniqueId }) => uniqueId !== undefined));
    return resolved;
  }

  /** What was recorded for a profile that was merged into another since was recorded for that one. */
  async function addFormerProfiles(recordables: readonly Recordable[]): Promise<void> {
    const owners = new Set(recordables.flatMap(({ profileId }) => profileId ?? []));
    if (owners.size === 0) return;
    const survivorIds = [...owners].map((id) => encodeId("prof", id));
    const { merged } = await calling(profiles.getMergedProfiles({ propertyId, survivorIds }, options));
    const formerOf = Map.groupBy(merged, ({ survivorId }) => decodeId("prof", survivorId, "survivor_id"));
    for (const recordable of recordables) {
      const former = recordable.profileId === null ? undefined : formerOf.get(recordable.profileId);
      if (former)
        recordable.formerProfileIds = former.map(({ profileId }) => decodeId("prof", profileId, "profile_id"));
    }
  }
}

function prepare(input: EventInput, now: Micros): Item | DaybookError {
  try {
    const { operationId } = input;
    const operation = operationId === undefined ? undefined : decodeId("op", operationId, "operation_id");
    return { input, prepared: { ...prepareEvent(input, now), operation } };
  } catch (error) {
    if (error instanceof DaybookError) return error;
    throw error;
  }
}

function isOpen(item: Item): boolean {
  return item.outcome === undefined;
}

function toRecordable({ prepared }: Item): Recordable {
  if ("profileId" in prepared) return prepared;
  throw new Error("nobody has looked yet whose an item is");
}

function toProfileFields({ outcome }: ProfileResolution): Pick<Recordable, "profileId" | "identifier"> | DaybookError {
  switch (outcome.case) {
    case "profile":
      return { profileId: decodeId("prof", outcome.value.profileId, "profile_id"), identifier: null };
    case "unmatched":
      return { profileId: null, identifier: outcome.value };
    case "error":
      return fromErrorMessage(outcome.value);
    default:
      throw new Error("a reference has no outcome");
  }
}

function toOutcome(result: Item | DaybookError): Outcome {
  if (result instanceof DaybookError) return result;
  const { outcome, input, prepared, resolvedFrom } = result;
  if (outcome === undefined) throw new Error("an item was not settled");
  if (outcome instanceof DaybookError) return outcome;
  if (!("otherItem" in outcome)) return { event: outcome, isKnown: false, replayed: false, resolvedFrom };
  const { event } = outcome;
  // What the same operation has recorded is no repeat: it is answered as it was then.
  const isOwn = prepared.operation !== undefined && event.id === encodeId("evt", prepared.operation);
  return isOwn
    ? { event, isKnown: true, replayed: false, resolvedFrom: mergedIdIn(input, event) }
    : { event, isKnown: true, replayed: true, resolvedFrom };
}

/** The merged profile that an item named, if its event was recorded for another. */
function mergedIdIn({ profile }: EventInput, { profileId }: Event): string | undefined {
  if (profile?.reference.case !== "profileId") return undefined;
  const named = encodeId("prof", decodeId("prof", profile.reference.value, "profile_id"));
  return named === profileId ? undefined : named;
}

function tooManyTypes(): DaybookError {
  const message = `The property has events of ${count(metricsMax)} types, and can have no more. Send this event with a type that is there.`;
  return new DaybookError("too_many_items", message, { param: "type" });
}

function keyReused(): DaybookError {
  const message = "`idempotency_key` was used for another event. Send a new key with a new event.";
  return new DaybookError("idempotency_key_reused", message, { param: "idempotency_key" });
}
