/** Whose events are, as time goes on: linked to a profile, read as a survivor's, emptied with a person. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { CallOptions, Client } from "@connectrpc/connect";
import {
  EventsLinkedSchema,
  EventsRecordedSchema,
  type Event,
  type EventsLinked,
} from "#proto/daybook/event/v1/event_pb.ts";
import { ProfileStatus, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId, encodeId, newUuid } from "#shared/ids.ts";
import { calling, callOptions } from "#shared/interceptors.ts";
import { rewriteMessages } from "#shared/outbox.ts";
import { inChunks, withTransaction } from "#shared/postgres.ts";
import { toTimestamp } from "#shared/time.ts";
import type { EventContext } from "./context.ts";
import { recordedSubject } from "./recorder.ts";
import { insertMessage } from "./sql/outbox.ts";
import { emptyEvents, findAnonymousUnder, linkEvents, type LinkedRow } from "./sql/profile-events.ts";

/** An identifier in normal form. */
export interface Identifier {
  type: string;
  value: string;
}

const rowsMax = 1_000;
const linkedSubject = "daybook.event.linked";

/** Gives events of merged profiles to their survivors. The events themselves keep what they were recorded with. */
export async function readAsSurvivors(
  profiles: Client<typeof ProfileService>,
  propertyId: string,
  events: readonly Event[],
  options: CallOptions,
): Promise<void> {
  const ids = new Set(events.flatMap(({ profileId }) => (profileId === undefined ? [] : [profileId])));
  if (ids.size === 0) return;
  const { merged } = await calling(profiles.getMergedProfiles({ propertyId, sourceIds: [...ids] }, options));
  const survivorOf = new Map(merged.map(({ profileId, survivorId }) => [profileId, survivorId]));
  for (const event of events) {
    const survivor = event.profileId === undefined ? undefined : survivorOf.get(event.profileId);
    if (survivor !== undefined) event.profileId = survivor;
  }
}

/**
 * All ids under which a profile has events: its own, and those of the profiles that were merged into it.
 * @param profileId a merged one stands for its survivor.
 */
export async function findIdsOf(
  profiles: Client<typeof ProfileService>,
  propertyId: string,
  profileId: string,
  options: CallOptions,
): Promise<string[]> {
  // In one look, so that a merge at the same time is in all of it or in nothing.
  const { merged } = await calling(profiles.getMergedProfiles({ propertyId, survivorIds: [profileId] }, options));
  const survivorId = merged.find((merge) => merge.profileId === profileId)?.survivorId ?? profileId;
  return [survivorId, ...merged.map(({ profileId: id }) => id)];
}

/** Identifiers that a profile has gained. */
export interface Gain {
  profileId: string;
  identifiers: readonly Identifier[];
}

/** Links anonymous events to the profiles that have gained their identifiers. */
export async function link(context: EventContext, property: string, gains: readonly Gain[]): Promise<void> {
  const identifiers = gains.flatMap((gain) => gain.identifiers);
  if (identifiers.length === 0) return;
  const columns = [identifiers.map(({ type }) => type), identifiers.map(({ value }) => value)];
  // Most of what is gained nobody has sent events under: one look for all of it tells.
  const found = await findAnonymousUnder(context.database, [property, ...columns]);
  const wanted = new Set(found.map(keyOf));
  for (const { profileId, identifiers: gained } of gains) {
    const linked = await linkAll(
      context,
      property,
      profileId,
      gained.filter((one) => wanted.has(keyOf(one))),
    );
    if (linked === 0) continue;
    // Should the profile have been redacted meanwhile, it was before these events were found as its own.
    const options = callOptions({ requestId: "", caller: "event" });
    const request = { propertyId: encodeId("prop", property), profileIds: [profileId], resolveMerged: true };
    const [profile] = (await calling(context.profiles.getProfiles(request, options))).profiles;
    if (profile?.status === ProfileStatus.REDACTED) await empty(context, property, [profileId]);
  }
}

function keyOf({ type, value }: Identifier): string {
  return `${type} ${value}`;
}

/** Empties all events of a profile that was redacted, and what is not published yet of them. */
export async function redact(
  context: EventContext,
  property: string,
  profileIds: readonly string[],
  identifiers: readonly Identifier[],
): Promise<void> {
  const [profileId] = profileIds;
  if (profileId !== undefined) await linkAll(context, property, profileId, identifiers);
  await empty(context, property, profileIds);
}

async function linkAll(
  { database, relay }: EventContext,
  property: string,
  profileId: string,
  identifiers: readonly Identifier[],
): Promise<number> {
  const profile = decodeId("prof", profileId, "profile_id");
  const linkSome = ({ type, value }: Identifier, rows: number): Promise<LinkedRow[]> =>
    withTransaction(database, async (tx) => {
      const linked = await linkEvents(tx, [property, profile, type, value, rows]);
      if (linked.length > 0) {
        const payload = Buffer.from(toBinary(EventsLinkedSchema, toLinked(property, profileId, linked)));
        await insertMessage(tx, [property, newUuid(), linkedSubject, payload]);
      }
      return linked;
    });
  let linked = 0;
  for (const identifier of identifiers) linked += await inChunks(rowsMax, (rows) => linkSome(identifier, rows));
  if (linked > 0) relay.wake();
  return linked;
}

function toLinked(property: string, profileId: string, rows: readonly LinkedRow[]): EventsLinked {
  return create(EventsLinkedSchema, {
    propertyId: encodeId("prop", property),
    profileId,
    events: rows.map(({ type, occurred_at: occurredAt, source, currency }) => ({
      type,
      occurredAt: toTimestamp(occurredAt),
      source,
      ...(currency === null ? {} : { currency }),
    })),
  });
}

async function empty({ database }: EventContext, property: string, profileIds: readonly string[]): Promise<void> {
  const profiles = profileIds.map((id) => decodeId("prof", id, "profile_ids"));
  await inChunks(rowsMax, (rows) => emptyEvents(database, [property, profiles, rows]));
  const theirs = new Set(profileIds);
  const isTheirs = ({ profileId }: Event): boolean => profileId !== undefined && theirs.has(profileId);
  await withTransaction(database, (tx) =>
    rewriteMessages(tx, { schema: "event", property, subject: recordedSubject }, (payload) => {
      const message = fromBinary(EventsRecordedSchema, payload);
      if (!message.events.some(isTheirs)) return undefined;
      for (const event of message.events) if (isTheirs(event)) event.propertiesJson = "{}";
      return toBinary(EventsRecordedSchema, message);
    }),
  );
}
