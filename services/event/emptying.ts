/** Redaction of events. Type, times, value, currency and source stay, because sums and counts do. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { EventsRecordedSchema, type Event } from "#proto/daybook/event/v1/event_pb.ts";
import { ProfilesChangedSchema } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { NormalIdentifier } from "#shared/values/identifiers.ts";
import { decodeId, encodeId, nilUuid, type Uuid } from "#shared/values/ids.ts";
import { textsOf } from "#shared/values/names.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { deleteReplaced, readable, rewriteMessages } from "#shared/outbox/outbox.ts";
import { inChunks, withTransaction } from "#shared/database/postgres.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { EventContext } from "./context.ts";
import { recordedSubject } from "./storing.ts";
import { emptyAnonymousEvents, emptyEvents, findAnonymousEvents, findReceivedSince } from "./sql/profile-events.ts";

const rowsMax = 1_000;
const answersIdsMax = 1_000;
// Refusals of a day are searched for texts.
const forgetTimeoutMs = 30_000;
const dayMicros = 24 * 60 * 60 * 1_000_000;
// An answer is stored for 24 hours, and may contain an event recorded 48 hours earlier under the same dedupe_id.
const answeredAgeMaxMicros = 4 * dayMicros;
const changedSubject = "daybook.profile.changed";

/**
 * Empties events of profiles in the table, the outbox, the bus, the dead letters and the stored answers. Idempotent.
 * @param profileIds of one person.
 */
export async function empty(
  context: EventContext,
  property: Uuid,
  profileIds: readonly string[],
  options: { isRepeated?: boolean; identifiers?: readonly NormalIdentifier[] } = {},
): Promise<void> {
  const { database, bus } = context;
  const profiles = profileIds.map((id) => decodeId("prof", id, "profile_ids"));
  await inChunks(rowsMax, (rows) => emptyEvents(database, [property, profiles, rows]));
  const theirs = new Set(profileIds);
  await rewriteEvents(context, property, ({ profileId }) => profileId !== undefined && theirs.has(profileId));
  const rewriteChanges = withoutIdentifiersOf(profileIds, options.isRepeated === true);
  await bus.rewriteDeadLetters(changedSubject, readable(rewriteChanges));
  await forgetAnswers(context, property, profileIds, options.identifiers ?? []);
}

const anonymousRowsMax = 1_000;

/**
 * Empties the anonymous events under identifiers that no profile has: they lose the identifier too. Copies of them are
 * emptied first, because afterwards nothing finds them by the identifier.
 */
export async function emptyAnonymous(
  context: EventContext,
  property: Uuid,
  identifiers: readonly NormalIdentifier[],
): Promise<void> {
  const { database } = context;
  for (const { type, value } of identifiers) {
    await inChunks(anonymousRowsMax, async (rows) => {
      const found = await findAnonymousEvents(database, [property, type, value, rows]);
      if (found.length === 0) return found;
      const ids = found.map(({ id }) => encodeId("evt", id));
      const theirs = new Set(ids);
      await rewriteEvents(context, property, ({ id }) => theirs.has(id));
      await forgetAnswersOf(context, property, ids, []);
      await emptyAnonymousEvents(database, [property, found.map(({ id }) => id)]);
      return found;
    });
  }
}

/** Empties events in the outbox, on the bus and among the dead letters. */
async function rewriteEvents(
  { database, bus }: EventContext,
  property: Uuid,
  isTheirs: (event: Event) => boolean,
): Promise<void> {
  const rewrite = emptyingOf(isTheirs);
  const replaced = await withTransaction(database, (tx) =>
    rewriteMessages(tx, { schema: "event", property, subject: recordedSubject }, rewrite),
  );
  await deleteReplaced(bus, replaced);
  await bus.rewriteDeadLetters(recordedSubject, readable(rewrite));
}

type Rewrite = (payload: Uint8Array) => Uint8Array | undefined;

function emptyingOf(isTheirs: (event: Event) => boolean): Rewrite {
  const says = (event: Event): boolean =>
    isTheirs(event) && (event.propertiesJson !== "{}" || event.dedupeId !== undefined);
  return (payload) => {
    const message = fromBinary(EventsRecordedSchema, payload);
    if (!message.events.some(says)) return undefined;
    for (const event of message.events.filter(says)) {
      event.propertiesJson = "{}";
      delete event.dedupeId;
    }
    return toBinary(EventsRecordedSchema, message);
  };
}

/** @param isRepeated whether the redaction itself was announced again, so that its first message is not needed. */
function withoutIdentifiersOf(profileIds: readonly string[], isRepeated: boolean): Rewrite {
  const theirs = new Set(profileIds);
  return (payload) => {
    const message = fromBinary(ProfilesChangedSchema, payload);
    const kept = message.changes.filter(
      ({ profileId, change }) => change.case !== "identified" || !theirs.has(profileId),
    );
    let isChanged = kept.length < message.changes.length;
    for (const { profileId, change } of kept) {
      if (!isRepeated || change.case !== "redacted" || !theirs.has(profileId)) continue;
      const { identifiers, knownIdentifiers } = change.value;
      isChanged ||= identifiers.length + knownIdentifiers.length > 0;
      Object.assign(change.value, { identifiers: [], knownIdentifiers: [] });
    }
    return isChanged ? toBinary(ProfilesChangedSchema, { ...message, changes: kept }) : undefined;
  };
}

/** Deletes the stored answers that contain any of the ids, and refusals that contain any of the identifiers. */
export async function forgetAnswersOf(
  { identity }: EventContext,
  property: Uuid,
  ids: readonly string[],
  identifiers: readonly NormalIdentifier[],
): Promise<void> {
  const propertyId = encodeId("prop", property);
  const options = systemCall("event", forgetTimeoutMs);
  if (ids.length > 0) await identity.forgetAnswers({ propertyId, ids: [...ids] }, options);
  for (let from = 0; from < identifiers.length; from += answersIdsMax) {
    const named = textsOf({ identifiers: identifiers.slice(from, from + answersIdsMax), profileIds: [] });
    await identity.forgetAnswers({ propertyId, ...named }, options);
  }
}

/** Deletes the stored answers that contain the profiles, any of their events, or any of the identifiers. */
async function forgetAnswers(
  context: EventContext,
  property: Uuid,
  profileIds: readonly string[],
  identifiers: readonly NormalIdentifier[],
): Promise<void> {
  const { database, clock } = context;
  const forget = (ids: readonly string[]): Promise<void> => forgetAnswersOf(context, property, ids, []);
  await forgetAnswersOf(context, property, [], identifiers);
  for (let at = 0; at < profileIds.length; at += answersIdsMax) {
    await forget(profileIds.slice(at, at + answersIdsMax));
  }
  const since = formatMicros(clock.nowMicros() - answeredAgeMaxMicros);
  for (const profileId of profileIds) {
    const profile = decodeId("prof", profileId, "profile_ids");
    let after: { occurredAt: Micros | undefined; id: Uuid } = { occurredAt: undefined, id: nilUuid };
    await inChunks(answersIdsMax, async (rows) => {
      const at = after.occurredAt === undefined ? "-infinity" : formatMicros(after.occurredAt);
      const found = await findReceivedSince(database, [property, profile, since, at, after.id, rows]);
      const last = found.at(-1);
      if (last) after = { occurredAt: last.occurred_at, id: last.id };
      await forget(found.map(({ id }) => encodeId("evt", id)));
      return found;
    });
  }
}
