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
import { findAnonymousUnder, linkEvents, type LinkedRow } from "./sql/profile-events.ts";

/** An identifier in normal form. */
export interface Identifier {
  type: string;
  value: string;
}

const rowsMax = 1_000;
const linkedSubject = "daybook.event.linked";
const ownCall = systemCall("event");

/** Gives events of merged profiles to their survivors. The events themselves keep what they were recorded with. */
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
  const { merged } = await profiles.getMergedProfiles({ propertyId, survivorIds: [profileId] }, options);
  const survivorId = merged.find((merge) => merge.profileId === profileId)?.survivorId ?? profileId;
  return [survivorId, ...merged.map(({ profileId: id }) => id)];
}

// The most that the profile service takes at once.
const referencesMax = 1_000;

/**
 * Links the anonymous events under identifiers to the profiles that have those identifiers. Links are for good, so the profile service says whose
 * they are, not the message that mentions them.
 */
export async function link(context: EventContext, property: Uuid, identifiers: readonly Identifier[]): Promise<void> {
  if (identifiers.length === 0) return;
  // Most of what is gained nobody has sent events under: one look for all of it tells.
  const found = await findAnonymousUnder(context.database, [property, identifiers]);
  for (const [profileId, theirs] of await findOwners(context, property, found)) {
    if ((await linkAll(context, property, profileId, theirs)) === 0) continue;
    // Should the profile have been redacted meanwhile, it was before these events were found as its own.
    const profile = await readProfile(context, property, profileId);
    if (profile?.status === ProfileStatus.REDACTED) await empty(context, property, [profileId]);
  }
}

/** @returns identifiers by the id of the profile that has them. */
async function findOwners(
  { profiles }: EventContext,
  property: Uuid,
  identifiers: readonly Identifier[],
): Promise<Map<string, Identifier[]>> {
  const owned = new Map<string, Identifier[]>();
  for (let from = 0; from < identifiers.length; from += referencesMax) {
    const some = identifiers.slice(from, from + referencesMax);
    const references = some.map((value) => ({ reference: { case: "identifier" as const, value } }));
    const request = { propertyId: encodeId("prop", property), references };
    const { resolutions } = await profiles.resolveProfiles(request, ownCall);
    for (const [index, { outcome }] of resolutions.entries()) {
      const identifier = some[index];
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
 * Asks the profile service whether a profile is redacted, and which of some others were merged into it. Emptying is for good, so a message alone
 * is not enough.
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

/**
 * Asks the profile service whether profiles were merged away.
 * @throws Error when one was not.
 */
export async function confirmMerged(
  { profiles }: EventContext,
  property: Uuid,
  sourceIds: readonly string[],
): Promise<void> {
  for (let from = 0; from < sourceIds.length; from += referencesMax) {
    const some = sourceIds.slice(from, from + referencesMax);
    const request = { propertyId: encodeId("prop", property), sourceIds: some };
    const { merged } = await profiles.getMergedProfiles(request, ownCall);
    const known = new Set(merged.map(({ profileId }) => profileId));
    const unknown = some.find((id) => !known.has(id));
    if (unknown !== undefined) throw new Error(`The profile service does not confirm that ${unknown} is merged.`);
  }
}

/** Empties all events of a profile that was redacted, and all that is stored elsewhere of what they said. */
export async function redact(
  context: EventContext,
  property: Uuid,
  profileIds: readonly string[],
  identifiers: readonly Identifier[],
): Promise<void> {
  const [profileId] = profileIds;
  if (profileId !== undefined) await linkAll(context, property, profileId, identifiers);
  await empty(context, property, profileIds);
}

async function linkAll(
  { database, relay }: EventContext,
  property: Uuid,
  profileId: string,
  identifiers: readonly Identifier[],
): Promise<number> {
  const profile = decodeId("prof", profileId, "profile_id");
  const linkSome = ({ type, value }: Identifier, rows: number): Promise<LinkedRow[]> =>
    withTransaction(database, async (tx) => {
      const linked = await linkEvents(tx, [property, profile, type, value, rows]);
      if (linked.length > 0) {
        const payload = toBinary(EventsLinkedSchema, toLinked(property, profileId, linked));
        await relay.enqueue(tx, property, linkedSubject, payload);
      }
      return linked;
    });
  let linked = 0;
  for (const identifier of identifiers) linked += await inChunks(rowsMax, (rows) => linkSome(identifier, rows));
  if (linked > 0) relay.wake();
  return linked;
}

function toLinked(property: Uuid, profileId: string, rows: readonly LinkedRow[]): EventsLinked {
  return create(EventsLinkedSchema, {
    propertyId: encodeId("prop", property),
    profileId,
    events: rows.map(({ type, occurred_at: occurredAt, source, currency }) => ({
      type,
      occurredAt: toTimestamp(occurredAt),
      source,
      currency: currency ?? undefined,
    })),
  });
}
