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
import { calling, callOptions } from "#shared/rpc/interceptors.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import type { FastifyRequest } from "fastify";
import { eventOperationOf } from "../../plugins/idempotency.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import type { RateWindow } from "../../rate/limits.ts";
import {
  countEvents,
  directIdentifier,
  isAllBackfill,
  readEntry,
  readEvent,
  type GivenEntry,
  type GivenProfile,
} from "../bodies.ts";
import type { CompatContext } from "../context.ts";
import { writtenEventResource } from "../convert/event-out.ts";
import type { EventSetting } from "../convert/event-in.ts";
import { toUpdateRequest, toUpsertRequest } from "../convert/profile-requests.ts";
import { exampleEventWrite, exampleEventBulk } from "../examples.ts";
import { Faults, pointerTo } from "../faults.ts";
import { jobIdOf } from "../job-ids.ts";
import { checkPatches, findProfile, updateProfile, upsertProfile } from "../profiles.ts";
import { sendWritten } from "../reply.ts";
import { Event, EventBulkCreateJobAccepted } from "../resources.ts";
import type { Router } from "../router.ts";
import { EventBulkCreateJob, EventCreate } from "../schemas.ts";
import { createChecker } from "../validation.ts";

const eventsMax = 1000;
const readsAtOnceMax = 8;
const entriesPointer = "/data/attributes/events-bulk-create/data";

const bulkBody = createChecker(EventBulkCreateJob, "event-bulk-create-job");

const createEvent = {
  id: "compatCreateEvent",
  summary: "Record an event",
  description:
    "On disk when it is answered, although it is answered 202. Whose it is: the profile of the identifiers, of which email decides before " +
    "phone_number, external_id, anonymous_id and _kx; nobody's yet make a profile. The name of the metric is kept, and the type that events " +
    "have natively is made from it: `Placed Order` is `placed.order`. The shape of revision 2023-02-22 is taken too.",
  query: {},
  body: EventCreate,
  example: exampleEventWrite,
  data: Event,
  success: { 202: "The event recorded" },
};

const bulk = {
  id: "compatCreateEvents",
  summary: "Record 1 to 1,000 events",
  description:
    "Checked as a whole: one bad event refuses all of them, and every bad one is named. They are recorded behind the answer.",
  query: {},
  body: EventBulkCreateJob,
  example: exampleEventBulk,
  data: EventBulkCreateJobAccepted,
  success: { 202: "All events are taken" },
};

export function eventWriteRoutes(router: Router, context: CompatContext): void {
  const { clients, clock, recording } = context;

  const settingOf = (request: FastifyRequest): EventSetting => ({
    defaultCurrency: callerOf(request).defaultCurrency,
    clock,
  });

  router.route("POST", "/events", "events:write", createEvent, async ({ request, reply, links }) => {
    const { input, profile } = readEvent(request.body, settingOf(request));
    checkPatches(request, [profile.write]);
    const identifier = directIdentifier(profile);
    input.profile = identifier
      ? toReference({ case: "identifier", value: identifier })
      : toReference({ case: "profileId", value: await writeProfile(request, profile) });
    request.isUnfinished = !identifier;
    Object.assign(input, eventOperationOf(request));
    const { outcome } = await recording.recordOne(callerOf(request).propertyId, input, callOf(request));
    if (outcome.case === "error") {
      const { attributes, id } = profile.pointers;
      throw fromErrorMessage(outcome.value).withParams((param) =>
        toEventPointer(param, { attributes, id }, identifier),
      );
    }
    if (!outcome.value?.event) throw new Error("the event was not returned");
    const { event: recorded, replayed } = outcome.value;
    request.isUnfinished = false;
    const resource = writtenEventResource(recorded, links.to(`/events/${recorded.id}`));
    return sendWritten(reply, 202, { data: resource }, { replayed });
  });

  /** Writes the profile that an event is of. @returns its id. */
  async function writeProfile(request: FastifyRequest, given: GivenProfile): Promise<string> {
    const { write, pointers } = given;
    const profile = await findGivenProfile(request, given);
    if (!profile) {
      const upsert = { pointers, part: "profile", preferFirst: true };
      return (await upsertProfile(context, request, write, upsert)).profile.id;
    }
    if (write.identifiers.length > 0 || write.saysMore)
      await updateProfile(context, request, profile, write, { pointers, part: "profile" });
    return profile.id;
  }

  /**
   * Finds the profile of the id that an event gives.
   * @returns undefined without one, and for one of nobody when there are identifiers beside it: some clients send their shop's id there.
   * @throws DaybookError `resource_not_found` when nothing else says whose the event is.
   */
  async function findGivenProfile(
    request: FastifyRequest,
    { id, write, pointers }: GivenProfile,
  ): Promise<Profile | undefined> {
    if (id === undefined) return undefined;
    try {
      return await findProfile(context, request, id, pointers.id);
    } catch (error) {
      const isNobody = error instanceof DaybookError && error.code === "resource_not_found";
      if (isNobody && write.identifiers.some(({ isPrimary }) => isPrimary)) return undefined;
      throw error;
    }
  }

  const bulkOptions = {
    rateByBody: (body: unknown): RateWindow => (isAllBackfill(body) ? "backfill" : "ordinary"),
  };
  router.route(
    "POST",
    "/event-bulk-create-jobs",
    "events:write",
    bulk,
    async ({ request, reply }) => {
      const entries = await readEntries(request.body, settingOf(request));
      checkPatches(
        request,
        entries.map(({ profile }) => profile.write),
      );
      const { propertyId } = callerOf(request);
      const found = await findGiven(request, entries);
      const jobId = jobIdOf(request);
      const items = entries.flatMap((entry, index) => toItems(propertyId, entry, found.get(index)?.id));
      await calling(clients.events.createEventJob({ propertyId, jobId, items }, callOptions(callOf(request))));
      const attributes = { total_count: items.length };
      // Without a link: such a job cannot be read, here as on the other platform.
      return sendWritten(reply, 202, { data: { type: "event-bulk-create-job", id: jobId, attributes } });
    },
    bulkOptions,
  );

  /** Finds the profiles that are named by id. @returns them by entry; without those that identifiers name in the place of an unknown id. */
  async function findGiven(request: FastifyRequest, entries: readonly GivenEntry[]): Promise<Map<number, Profile>> {
    const faults = new Faults();
    const refuse = ({ pointers }: GivenProfile, message: string): void => {
      faults.beginEntry();
      faults.add(pointers.id, message);
    };
    const found = new Map<number, Profile>();
    const named = [...entries.entries()].filter(([, { profile }]) => profile.id !== undefined);
    await inTurns(named, async ([index, { profile }]) => {
      try {
        const one = await findGivenProfile(request, profile);
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
}

async function readEntries(body: unknown, setting: EventSetting): Promise<GivenEntry[]> {
  const { data } = bulkBody.read(body).data.attributes["events-bulk-create"];
  const faults = new Faults();
  // Before any of them is read, which takes long for many.
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

/** The events of an entry. What is said of the profile goes with the first of them, and what it is known by with all. */
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

async function inTurns<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const work = async (): Promise<void> => {
    for (const item of rest) await act(item);
  };
  await Promise.all(Array.from({ length: readsAtOnceMax }, work));
}

/** Where a field at fault, as the event service names it, stands in the body. */
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
