import { create } from "@bufbuild/protobuf";
import { EventJobItemSchema, type EventJobItem } from "#proto/daybook/event/v1/event_pb.ts";
import {
  ProfileReferenceSchema,
  ProfileStatus,
  type Profile,
  type ProfileReference,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { fromErrorMessage } from "#shared/rpc/errors.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import { claimFirst } from "../../plugins/idempotency.ts";
import { jobOriginOf } from "../../rejections/operation-name.ts";
import {
  countEvents,
  directIdentifier,
  isAllBackfill,
  readEntry,
  readEvent,
  type GivenEntry,
  type GivenProfile,
} from "../bodies.ts";
import { writtenEventResource } from "../convert/event-out.ts";
import { toUpdateRequest, toUpsertRequest } from "../convert/profile-requests.ts";
import { exampleEventWrite, exampleEventBulk } from "../examples.ts";
import type { CompatExchange } from "../exchange.ts";
import { Faults, pointerTo } from "../faults.ts";
import { jobIdOf } from "../job-ids.ts";
import { checkPatches, findProfile, updateProfile, upsertProfile } from "../profiles.ts";
import { answerDocument } from "../reply.ts";
import { Event, EventBulkCreateJobAccepted } from "../resources.ts";
import { operation, route, type BodySetting } from "../operation.ts";
import { EventBulkCreateJob, EventCreate } from "../schemas.ts";
import { createChecker } from "../validation.ts";

const eventsMax = 1000;
const readsAtOnceMax = 8;
const entriesPointer = "/data/attributes/events-bulk-create/data";

const bulkBody = createChecker(EventBulkCreateJob, "event-bulk-create-job");

const createEvent = operation("events:write", {
  id: "compatCreateEvent",
  summary: "Record an event",
  description:
    "On disk when it is answered, although it is answered 202. Whose it is: the profile of the identifiers, of which " +
    "email decides before phone_number, external_id, anonymous_id and _kx; nobody's yet make a profile. The name of " +
    "the metric is kept, and the type that events have natively is made from it: `Placed Order` is `placed.order`. " +
    "The shape of revision 2023-02-22 is taken too.",
  query: {},
  body: { schema: EventCreate, read: readEvent },
  example: exampleEventWrite,
  recordsEvent: true,
  data: Event,
  success: { 202: "The event recorded" },
});

const bulk = operation("events:write", {
  id: "compatCreateEvents",
  summary: "Record 1 to 1,000 events",
  description:
    "Checked as a whole: one bad event refuses all of them, and every bad one is named. They are recorded behind the " +
    "answer.",
  query: {},
  body: { schema: EventBulkCreateJob, read: readEntries },
  rateByBody: (body) => (isAllBackfill(body) ? "backfill" : "ordinary"),
  example: exampleEventBulk,
  data: EventBulkCreateJobAccepted,
  success: { 202: "All events are taken" },
});

export const eventWriteRoutes = [
  route("POST", "/events", createEvent, async (exchange) => {
    const { request, reply, links, body } = exchange;
    const { input, profile } = body;
    checkPatches(exchange.caller, [profile.write]);
    const identifier = directIdentifier(profile);
    // The profile is written before the event.
    if (!identifier) claimFirst(request);
    input.profile = identifier
      ? toReference({ case: "identifier", value: identifier })
      : toReference({ case: "profileId", value: await writeProfile(exchange, profile) });
    request.isUnfinished = !identifier;
    const { outcome } = await exchange.recordEvent(input);
    if (outcome.case === "error") {
      throw fromErrorMessage(outcome.value).withParams((param) => toEventPointer(param, profile.pointers, identifier));
    }
    if (!outcome.value?.event) throw new Error("the event was not returned");
    const { event: recorded, replayed } = outcome.value;
    request.isUnfinished = false;
    if (replayed) void reply.header("idempotency-replayed", "true");
    return answerDocument(reply, 202, { data: writtenEventResource(recorded, links.to(`/events/${recorded.id}`)) });
  }),

  route("POST", "/event-bulk-create-jobs", bulk, async (exchange) => {
    const { request, reply, propertyId, services, body: entries } = exchange;
    checkPatches(
      exchange.caller,
      entries.map(({ profile }) => profile.write),
    );
    const found = await findGiven(exchange, entries);
    const jobId = jobIdOf(request);
    const items = entries.flatMap((entry, index) => toItems(propertyId, entry, found.get(index)?.id));
    await services.events.createEventJob({ propertyId, jobId, items, origin: jobOriginOf(request) });
    const attributes = { total_count: items.length };
    // Without a link, because these jobs cannot be read, as on the other platform.
    return answerDocument(reply, 202, { data: { type: "event-bulk-create-job", id: jobId, attributes } });
  }),
];

/** Writes the profile of an event. @returns its id. */
async function writeProfile(exchange: CompatExchange, given: GivenProfile): Promise<string> {
  const { write, pointers } = given;
  const profile = await findGivenProfile(exchange, given);
  if (!profile) {
    const upsert = { pointers, part: "profile", preferFirst: true };
    return (await upsertProfile(exchange, write, upsert)).profile.id;
  }
  if (write.identifiers.length > 0 || write.saysMore)
    await updateProfile(exchange, profile, write, { pointers, part: "profile" });
  return profile.id;
}

/**
 * Finds the profile by the id in an event.
 * @returns undefined if there is no id, or if it is unknown and identifiers are sent too: some clients send their
 * shop's id.
 * @throws DaybookError `resource_not_found` if only the id identifies the profile.
 */
async function findGivenProfile(
  exchange: CompatExchange,
  { id, write, pointers }: GivenProfile,
): Promise<Profile | undefined> {
  if (id === undefined) return undefined;
  try {
    return await findProfile(exchange, id, pointers.id);
  } catch (error) {
    const isNobody = error instanceof DaybookError && error.code === "resource_not_found";
    if (isNobody && write.identifiers.some(({ isPrimary }) => isPrimary)) return undefined;
    throw error;
  }
}

/** Finds profiles by id. @returns profiles by entry index; entries with an unknown id and identifiers are left out. */
async function findGiven(exchange: CompatExchange, entries: readonly GivenEntry[]): Promise<Map<number, Profile>> {
  const faults = new Faults();
  const refuse = ({ pointers }: GivenProfile, message: string): void => {
    faults.beginEntry();
    faults.add(pointers.id, message);
  };
  const found = new Map<number, Profile>();
  const named = [...entries.entries()].filter(([, { profile }]) => profile.id !== undefined);
  await forEachConcurrently(named, async ([index, { profile }]) => {
    try {
      const one = await findGivenProfile(exchange, profile);
      if (!one) return;
      if (one.status === ProfileStatus.REDACTED) refuse(profile, "The profile is redacted.");
      else found.set(index, one);
    } catch (error) {
      if (!(error instanceof DaybookError) || error.code !== "resource_not_found") throw error;
      refuse(profile, error.message);
    }
  });
  faults.check();
  return found;
}

async function readEntries(value: unknown, setting: BodySetting): Promise<GivenEntry[]> {
  const { data } = bulkBody.read(value).data.attributes["events-bulk-create"];
  const faults = new Faults();
  // Counted before reading, which is slow for many entries.
  if (data.length > eventsMax || data.reduce<number>((sum, entry) => sum + countEvents(entry), 0) > eventsMax) {
    faults.add(entriesPointer, `There are at most ${eventsMax} events in one request.`, "too_many_items");
    faults.check();
  }
  const entries: GivenEntry[] = [];
  const pauses = new Steps();
  for (const [index, entry] of data.entries()) {
    const read = await readEntry(entry, setting, faults, { pointer: `${entriesPointer}/${index}`, pauses });
    if (read) entries.push(read);
  }
  faults.check();
  return entries;
}

/** The events of an entry. The first carries the profile's fields; all carry its identifiers. */
function toItems(propertyId: string, { profile, inputs }: GivenEntry, profileId: string | undefined): EventJobItem[] {
  const direct = directIdentifier(profile);
  const { write } = profile;
  const known = { ...write, attributesJson: undefined, operations: [], removedEmails: [], location: undefined };
  return inputs.map((input, index) => {
    if (profileId !== undefined) {
      input.profile = toReference({ case: "profileId", value: profileId });
      const isSaid = index === 0 && (write.identifiers.length > 0 || write.saysMore);
      const update = isSaid ? { update: toUpdateRequest(propertyId, profileId, write) } : {};
      return create(EventJobItemSchema, { event: input, ...update });
    }
    if (direct) input.profile = toReference({ case: "identifier", value: direct });
    else {
      const upsert = toUpsertRequest(propertyId, index === 0 ? write : known, true);
      return create(EventJobItemSchema, { event: input, profile: upsert });
    }
    return create(EventJobItemSchema, { event: input });
  });
}

function toReference(
  reference: { case: "profileId"; value: string } | { case: "identifier"; value: { type: string; value: string } },
): ProfileReference {
  return create(ProfileReferenceSchema, { reference });
}

async function forEachConcurrently<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const remaining = items.values();
  const work = async (): Promise<void> => {
    for (const item of remaining) await act(item);
  };
  await Promise.all(Array.from({ length: readsAtOnceMax }, work));
}

/** Maps a param of the event service to a JSON pointer. */
function toEventPointer(
  param: string,
  profile: { attributes: string; id: string },
  identifier: { type: string } | undefined,
): string {
  const [field = "", ...path] = param.split(".");
  const attributes = "/data/attributes";
  if (field === "type" || field === "metric_name") return `${attributes}/metric/data/attributes/name`;
  if (field === "currency") return `${attributes}/value_currency`;
  if (field === "occurred_at") return `${attributes}/time`;
  if (field === "profile_id") return profile.id;
  if (field === "identifier") return `${profile.attributes}/${identifier?.type === "phone" ? "phone_number" : "email"}`;
  return `${attributes}/${field}${pointerTo(path)}`;
}
