/** Re-attributes stored events: links anonymous ones, follows merges, redacts. */
import { create, toBinary } from "@bufbuild/protobuf";
import type { CallOptions, Client } from "@connectrpc/connect";
import { EventsLinkedSchema, type Event, type EventsLinked } from "#proto/daybook/event/v1/event_pb.ts";
import { ProfileStatus, type Profile, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId, encodeId, type Uuid } from "#shared/values/ids.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { inChunks, withTransaction } from "#shared/database/postgres.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { EventContext } from "./context.ts";
import { empty } from "./emptying.ts";
import { emptyTexts } from "./texts.ts";
import { findAnonymousUnder, linkEvents, type LinkedRow } from "./sql/profile-events.ts";

/** An identifier in normal form. */
export interface Identifier {
  type: string;
  value: string;
}

const rowsMax = 1_000;
const linkedSubject = "daybook.event.linked";
const ownCall = systemCall("event");

/** Replaces ids of merged profiles by those of their survivors. Stored events keep the recorded id: `recordedFor`. */
export async function readAsSurvivors(
  profiles: Client<typeof ProfileService>,
  propertyId: string,
  events: readonly Event[],
  options: CallOptions,
): Promise<void> {
  const ids = new Set(events.flatMap(({ profileId }) => (profileId === undefined ? [] : [profileId])));
  if (ids.size === 0) return;
  const { merged } = await profiles.getMergedProfiles({ propertyId, sourceIds: [...ids] }, options);
  const survivorOf = new Map(merged.map(({ profileId, survivorId }) => [profileId, survivorId]));
  for (const event of events) {
    const survivor = event.profileId === undefined ? undefined : survivorOf.get(event.profileId);
    if (event.profileId === undefined || survivor === undefined) continue;
    event.recordedFor = event.profileId;
    event.profileId = survivor;
  }
}

/**
 * Lists the ids under which a profile has events: its own, and those of the profiles merged into it.
 * @returns the survivor's id first, also when `profileId` names a merged profile.
 */
export async function findIdsOf(
  profiles: Client<typeof ProfileService>,
  propertyId: string,
  profileId: string,
  options: CallOptions,
): Promise<string[]> {
  // One call, so that a concurrent merge is seen completely or not at all.
  const { merged } = await profiles.getMergedProfiles({ propertyId, survivorIds: [profileId] }, options);
  const survivorId = merged.find((merge) => merge.profileId === profileId)?.survivorId ?? profileId;
  return [survivorId, ...merged.map(({ profileId: id }) => id)];
}

// Limit of ResolveProfiles and of GetMergedProfiles.
const referencesMax = 1_000;

/**
 * Links the anonymous events under identifiers to the profiles that have those identifiers. Links are permanent, so the
 * profile service names the owners, not the message.
 */
export async function link(context: EventContext, property: Uuid, identifiers: readonly Identifier[]): Promise<void> {
  if (identifiers.length === 0) return;
  // Most gained identifiers have no anonymous events. One statement finds those that do.
  const found = await findAnonymousUnder(context.database, [property, identifiers]);
  for (const [profileId, owned] of await findOwners(context, property, found)) {
    if ((await linkAll(context, property, profileId, owned)) === 0) continue;
    // A concurrent redaction may have emptied the profile's events before these were linked.
    const profile = await readProfile(context, property, profileId);
    if (profile?.status === ProfileStatus.REDACTED) await empty(context, property, [profileId]);
  }
}

/** @returns identifiers by the id of the profile that has them. */
export async function findOwners(
  { profiles }: EventContext,
  property: Uuid,
  identifiers: readonly Identifier[],
): Promise<Map<string, Identifier[]>> {
  const owned = new Map<string, Identifier[]>();
  for (let from = 0; from < identifiers.length; from += referencesMax) {
    const chunk = identifiers.slice(from, from + referencesMax);
    const references = chunk.map((value) => ({ reference: { case: "identifier" as const, value } }));
    const request = { propertyId: encodeId("prop", property), references };
    const { resolutions } = await profiles.resolveProfiles(request, ownCall);
    for (const [index, { outcome }] of resolutions.entries()) {
      const identifier = chunk[index];
      if (outcome.case !== "profile" || !identifier) continue;
      const { profileId } = outcome.value;
      owned.set(profileId, [...(owned.get(profileId) ?? []), identifier]);
    }
  }
  return owned;
}

async function readProfile(
  { profiles }: EventContext,
  property: Uuid,
  profileId: string,
): Promise<Profile | undefined> {
  const request = { propertyId: encodeId("prop", property), profileIds: [profileId], resolveMerged: true };
  return (await profiles.getProfiles(request, ownCall)).profiles[0];
}

/**
 * Asks the profile service whether a profile is redacted, and which of `mergedIds` were merged into it. Emptying is
 * permanent, so a message alone is not enough.
 * @returns the ids whose events are to be emptied, the profile's own first.
 * @throws Error when the profile is not redacted.
 */
export async function confirmRedacted(
  context: EventContext,
  property: Uuid,
  profileId: string,
  mergedIds: readonly string[],
): Promise<string[]> {
  const profile = await readProfile(context, property, profileId);
  if (profile?.id !== profileId || profile.status !== ProfileStatus.REDACTED) {
    throw new Error(`The profile service does not confirm that ${profileId} is redacted.`);
  }
  if (mergedIds.length === 0) return [profileId];
  const known = new Set(await findIdsOf(context.profiles, encodeId("prop", property), profileId, ownCall));
  return [profileId, ...mergedIds.filter((id) => known.has(id))];
}

/** Asks the profile service whether profiles were merged away. @throws Error when one was not. */
export async function confirmMerged(
  { profiles }: EventContext,
  property: Uuid,
  sourceIds: readonly string[],
): Promise<void> {
  for (let from = 0; from < sourceIds.length; from += referencesMax) {
    const chunk = sourceIds.slice(from, from + referencesMax);
    const request = { propertyId: encodeId("prop", property), sourceIds: chunk };
    const { merged } = await profiles.getMergedProfiles(request, ownCall);
    const known = new Set(merged.map(({ profileId }) => profileId));
    const unknown = chunk.find((id) => !known.has(id));
    if (unknown !== undefined) throw new Error(`The profile service does not confirm that ${unknown} is merged.`);
  }
}

/** Links the anonymous events under `identifiers` to a redacted profile, then empties its events and their copies. */
export async function redact(
  context: EventContext,
  property: Uuid,
  profileIds: readonly string[],
  {
    identifiers,
    known,
    isRepeated,
  }: { identifiers: readonly Identifier[]; known: readonly Identifier[]; isRepeated: boolean },
): Promise<void> {
  const [profileId] = profileIds;
  if (profileId !== undefined) await linkAll(context, property, profileId, identifiers);
  await empty(context, property, profileIds, { isRepeated, identifiers: known });
  await emptyTexts(context, property, profileIds, known);
}

async function linkAll(
  { database, relay }: EventContext,
  property: Uuid,
  profileId: string,
  identifiers: readonly Identifier[],
): Promise<number> {
  const profile = decodeId("prof", profileId, "profile_id");
  const linkRows = ({ type, value }: Identifier, rows: number): Promise<LinkedRow[]> =>
    withTransaction(database, async (tx) => {
      const linked = await linkEvents(tx, [property, profile, type, value, rows]);
      if (linked.length > 0) {
        const payload = toBinary(EventsLinkedSchema, toLinked(property, profileId, linked));
        await relay.enqueue(tx, property, linkedSubject, payload);
      }
      return linked;
    });
  let linked = 0;
  for (const identifier of identifiers) linked += await inChunks(rowsMax, (rows) => linkRows(identifier, rows));
  if (linked > 0) relay.wake();
  return linked;
}

function toLinked(property: Uuid, profileId: string, rows: readonly LinkedRow[]): EventsLinked {
  return create(EventsLinkedSchema, {
    propertyId: encodeId("prop", property),
    profileId,
    events: rows.map(({ id, type, occurred_at: occurredAt, source, currency }) => ({
      eventId: encodeId("evt", id),
      type,
      occurredAt: toTimestamp(occurredAt),
      source,
      currency: currency ?? undefined,
    })),
  });
}
