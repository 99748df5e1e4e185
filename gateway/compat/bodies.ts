/** Reads the bodies of writes and collects every fault in them. */
import type { Static } from "typebox";
import type { EventInput } from "#proto/daybook/event/v1/event_pb.ts";
import { isJsonObject, type JsonObject } from "#shared/json/json.ts";
import type { Steps } from "#shared/scheduling/steps.ts";
import { toEventInput } from "./convert/event-in.ts";
import { fromFlatEvent, isFlatEvent, toFlatPointer } from "./convert/flat-event.ts";
import { toId } from "./convert/ids.ts";
import { readProfileWrite, type ProfileWrite } from "./convert/profile-in.ts";
import { Faults } from "./faults.ts";
import type { BodySetting } from "./operation.ts";
import type { ProfilePointers } from "./profiles.ts";
import {
  EventAttributes,
  EventBulkEntry,
  EventBulkItem,
  EventCreate,
  FlatEventAttributes,
  ProfileResource,
} from "./schemas.ts";
import { createChecker } from "./validation.ts";

const eventBody = createChecker(EventCreate, "event");
const eventAttributes = createChecker(EventAttributes, "event");
const flatEvent = createChecker(FlatEventAttributes, "event");
const bulkEntry = createChecker(EventBulkEntry, "event-bulk-create");
const bulkItem = createChecker(EventBulkItem, "event");
const profileResource = createChecker(ProfileResource, "profile");

/** A profile as it was sent: the owner of an event, or an item of an import. */
export interface GivenProfile {
  id: string | undefined;
  write: ProfileWrite;
  pointers: ProfilePointers;
}

export interface GivenEvent {
  input: EventInput;
  profile: GivenProfile;
}

type EventProfile = Static<typeof EventAttributes>["profile"];

/** @throws Refusal with every fault. */
export function readEvent(body: unknown, setting: BodySetting): GivenEvent {
  const isFlat = isFlatEvent(body);
  const flat = isFlat ? ((body as JsonObject).data as JsonObject).attributes : undefined;
  const faults = new Faults(isFlat ? toFlatPointer(flat) : undefined);
  const pointer = "/data/attributes";
  let attributes: Static<typeof EventAttributes>;
  if (isFlat) {
    if (!flatEvent.check(flat, faults, pointer)) faults.check();
    attributes = fromFlatEvent(flat as Static<typeof FlatEventAttributes>);
    if (!eventAttributes.check(attributes, faults, pointer)) faults.check();
  } else {
    attributes = eventBody.read(body).data.attributes;
  }
  const name = `${pointer}/metric/data/attributes/name`;
  const input = toEventInput(attributes, setting, faults, { attributes: pointer, name });
  const profile = readEventProfile(attributes.profile, faults, `${pointer}/profile/data`);
  faults.check();
  return { input, profile };
}

function readEventProfile({ data }: EventProfile, faults: Faults, pointer: string): GivenProfile {
  const { attributes = {}, meta } = data;
  const inner = attributes.meta;
  const metaPointer = inner ? `${pointer}/attributes/meta` : `${pointer}/meta`;
  return readGiven({ id: data.id, attributes, meta: inner ?? meta }, faults, pointer, metaPointer);
}

function readGiven(
  given: { id: string | null | undefined; attributes: object; meta: Static<typeof ProfileResource>["meta"] },
  faults: Faults,
  pointer: string,
  metaPointer: string,
): GivenProfile {
  const pointers = { id: `${pointer}/id`, attributes: `${pointer}/attributes` };
  const write = readProfileWrite(given, faults, { pointer: pointers.attributes, metaPointer });
  const id = given.id?.trim() ? given.id : undefined;
  if (id === undefined && write.identifiers.every(({ isPrimary }) => !isPrimary)) {
    const message = "One of email, phone_number, external_id, anonymous_id, _kx or id is required.";
    if (write.hasStrangePhone)
      faults.add(`${pointers.attributes}/phone_number`, "Invalid phone number format (must be E.164)");
    else faults.add(pointers.attributes, message, "parameter_missing");
  }
  return { id, write, pointers };
}

/**
 * Reads an imported profile, single or bulk. @returns undefined if its shape is wrong; other faults only go to
 * `faults`.
 */
export function readProfile(data: unknown, faults: Faults, pointer: string): GivenProfile | undefined {
  if (!profileResource.check(data, faults, pointer)) return undefined;
  const { id, attributes = {}, meta } = data;
  return readGiven({ id, attributes, meta }, faults, pointer, `${pointer}/meta`);
}

/** An entry of a bulk request: a profile and its events. */
export interface GivenEntry {
  profile: GivenProfile;
  inputs: EventInput[];
}

/**
 * Reads an entry of a bulk request, with a pause after each step between its events. @returns undefined if its shape is
 * wrong.
 */
export async function readEntry(
  entry: unknown,
  setting: BodySetting,
  faults: Faults,
  { pointer, pauses }: { pointer: string; pauses: Steps },
): Promise<GivenEntry | undefined> {
  faults.beginEntry();
  if (!bulkEntry.check(entry, faults, pointer)) return undefined;
  const { profile, events, backfill } = entry.attributes;
  const inputs: EventInput[] = [];
  for (const [index, event] of events.data.entries()) {
    await pauses.next();
    // A client may leave out each event on its own.
    faults.beginEntry();
    const at = `${pointer}/attributes/events/data/${index}`;
    if (!bulkItem.check(event, faults, at)) continue;
    const attributes = `${at}/attributes`;
    const fields = { ...event.attributes, backfill: event.attributes.backfill ?? backfill ?? false };
    const name = `${attributes}/metric/data/attributes/name`;
    inputs.push(toEventInput(fields, setting, faults, { attributes, name }));
  }
  faults.beginEntry();
  return { profile: readEventProfile(profile, faults, `${pointer}/attributes/profile/data`), inputs };
}

/** The value at a path of a body that is not validated yet. */
function findAt(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((at, key) => (isJsonObject(at) ? at[key] : undefined), value);
}

function eventsOf(entry: unknown): readonly unknown[] {
  const events = findAt(entry, "attributes", "events", "data");
  return Array.isArray(events) ? events : [];
}

/** Number of events of a bulk entry, valid or not. */
export function countEvents(entry: unknown): number {
  return eventsOf(entry).length;
}

/** Whether every entry of a bulk request is backfill. Works on a body that is not validated yet. */
export function isAllBackfill(body: unknown): boolean {
  const entries = findAt(body, "data", "attributes", "events-bulk-create", "data");
  if (!Array.isArray(entries) || entries.length === 0) return false;
  return entries.every((entry) => {
    if (findAt(entry, "attributes", "backfill") === true) return true;
    const events = eventsOf(entry);
    return events.length > 0 && events.every((event) => findAt(event, "attributes", "backfill") === true);
  });
}

/**
 * The identifier that suffices to record an event in one call: an email or a phone, if nothing else is sent of the
 * profile.
 */
export function directIdentifier({ id, write }: GivenProfile): { type: string; value: string } | undefined {
  const [first, second] = write.identifiers;
  const isEnough =
    id === undefined && !second && !write.saysMore && (first?.type === "email" || first?.type === "phone");
  return isEnough ? first : undefined;
}

/** The TypeID of the sent profile id; undefined if none was sent or it cannot be one. */
export function givenId({ id }: GivenProfile): string | undefined {
  return id === undefined ? undefined : toId("prof", id);
}
