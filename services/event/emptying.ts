/** Redaction of events. Type, times, value, currency and source stay, because sums and counts do. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { EventsRecordedSchema, type Event } from "#proto/daybook/event/v1/event_pb.ts";
import { ProfilesChangedSchema } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { decodeId, encodeId, nilUuid, type Uuid } from "#shared/values/ids.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { deleteReplaced, rewriteMessages } from "#shared/outbox/outbox.ts";
import { inChunks, withTransaction } from "#shared/database/postgres.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { EventContext } from "./context.ts";
import { recordedSubject } from "./storing.ts";
import { emptyEvents, findReceivedSince } from "./sql/profile-events.ts";

const rowsMax = 1_000;
const answersIdsMax = 1_000;
const dayMicros = 24 * 60 * 60 * 1_000_000;
// An answer is stored for 24 hours, and may contain an event recorded 48 hours earlier under the same dedupe_id.
const answeredAgeMaxMicros = 4 * dayMicros;
const changedSubject = "daybook.profile.changed";

/**
 * Empties events of profiles in the table, the outbox, the bus, the dead letters and the stored answers. Idempotent.
 * @param profileIds of one person.
 */
export async function empty(context: EventContext, property: Uuid, profileIds: readonly string[]): Promise<void> {
  const { database, bus } = context;
  const profiles = profileIds.map((id) => decodeId("prof", id, "profile_ids"));
  await inChunks(rowsMax, (rows) => emptyEvents(database, [property, profiles, rows]));
  const rewriteEvents = emptyingOf(profileIds);
  const replaced = await withTransaction(database, (tx) =>
    rewriteMessages(tx, { schema: "event", property, subject: recordedSubject }, rewriteEvents),
  );
  await deleteReplaced(bus, replaced);
  await bus.rewriteDeadLetters(recordedSubject, readable(rewriteEvents));
  await bus.rewriteDeadLetters(changedSubject, readable(withoutIdentifiersOf(profileIds)));
  await forgetAnswers(context, property, profileIds);
}

type Rewrite = (payload: Uint8Array) => Uint8Array | undefined;

function emptyingOf(profileIds: readonly string[]): Rewrite {
  const theirs = new Set(profileIds);
  const says = ({ profileId, propertiesJson, dedupeId }: Event): boolean =>
    profileId !== undefined && theirs.has(profileId) && (propertiesJson !== "{}" || dedupeId !== undefined);
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

function withoutIdentifiersOf(profileIds: readonly string[]): Rewrite {
  const theirs = new Set(profileIds);
  return (payload) => {
    const message = fromBinary(ProfilesChangedSchema, payload);
    const kept = message.changes.filter(
      ({ profileId, change }) => change.case !== "identified" || !theirs.has(profileId),
    );
    if (kept.length === message.changes.length) return undefined;
    return toBinary(ProfilesChangedSchema, { ...message, changes: kept });
  };
}

/** Leaves a dead letter that cannot be parsed unchanged, because its profile is unknown. It is deleted by its age. */
function readable(rewrite: Rewrite): Rewrite {
  return (payload) => {
    try {
      return rewrite(payload);
    } catch {
      return undefined;
    }
  };
}

/** Deletes the stored answers that contain the profiles or any of their events. */
async function forgetAnswers(
  { database, clock, identity }: EventContext,
  property: Uuid,
  profileIds: readonly string[],
): Promise<void> {
  const propertyId = encodeId("prop", property);
  const options = systemCall("event");
  const forget = async (ids: string[]): Promise<void> => {
    if (ids.length > 0) await identity.forgetAnswers({ propertyId, ids }, options);
  };
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
