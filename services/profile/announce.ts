/** The messages of the profile service, as rows of its outbox. */
import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { ProfilesChangedSchema, type ProfileChangeSchema } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Place } from "#shared/bus/bus.ts";
import type { Micros } from "#shared/values/clock.ts";
import { encodeId, newUuid, type Uuid } from "#shared/values/ids.ts";
import { rewriteMessages } from "#shared/outbox/outbox.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import { withTrace } from "#shared/tracing/messages.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { makesProfile, type NormalIdentifier } from "#shared/values/identifiers.ts";
import { insertMessages } from "./sql/outbox.ts";
import type { Attempt } from "./attempts.ts";

/** The subject of messages that announce changes of profiles. */
export const subject = "daybook.profile.changed";

/** A row of the outbox. */
export interface Message {
  id: Uuid;
  payload: Buffer;
}

type Change = NonNullable<MessageInitShape<typeof ProfileChangeSchema>["change"]>;

// 32 bytes each; a message holds at most 1 MB.
const mergedIdsPerMessageMax = 10_000;
// Up to 1.1 KB each, and mostly twice.
const identifiersPerMessageMax = 250;

/** A write of a profile, as its message tells it. */
export interface Write {
  property: Uuid;
  profile: Uuid;
  /** The version of the profile after it. */
  version: number;
  now: Micros;
}

/** Packs changes of a profile into a message. */
export function messageOf({ property, profile, version, now }: Write, changes: readonly Change[]): Message {
  const id = newUuid();
  const message = create(ProfilesChangedSchema, {
    messageId: id,
    propertyId: encodeId("prop", property),
    changedAt: toTimestamp(now),
    changes: changes.map((change) => ({
      changeId: newUuid(),
      profileId: encodeId("prof", profile),
      version: BigInt(version),
      change,
    })),
  });
  return { id, payload: withTrace(toBinary(ProfilesChangedSchema, message)) };
}

/** The message that announces a new profile. */
export function createdMessage(
  property: Uuid,
  profile: Uuid,
  now: Micros,
  identifiers: readonly NormalIdentifier[],
): Message {
  const changes: Change[] = [{ case: "created", value: {} }, ...identified(identifiers)];
  return messageOf({ property, profile, version: 1, now }, changes);
}

/** The message that announces added identifiers; none if no anonymous event can have any of them. */
export function identifiedMessages(write: Write, identifiers: readonly NormalIdentifier[]): Message[] {
  const changes = identified(identifiers);
  return changes.length > 0 ? [messageOf(write, changes)] : [];
}

/**
 * The messages that announce a redaction.
 * @param merged profiles that were merged into it.
 * @param known everything that the person was known by.
 * @param repeated whether the redaction was announced before.
 */
export function redactedMessages(
  write: Write,
  merged: readonly Uuid[],
  known: readonly NormalIdentifier[],
  repeated = false,
): Message[] {
  const messages: Message[] = [];
  const add = (mergedProfileIds: string[], identifiers: readonly NormalIdentifier[]): void => {
    const value = {
      mergedProfileIds,
      identifiers: anonymous(identifiers),
      knownIdentifiers: identifiers.map(({ type, value: text }) => ({ type, value: text })),
      repeated: repeated || messages.length > 0,
    };
    messages.push(messageOf(write, [{ case: "redacted", value }]));
  };
  const ids = merged.map((id) => encodeId("prof", id));
  add(ids.slice(0, mergedIdsPerMessageMax), known.slice(0, identifiersPerMessageMax));
  for (let from = mergedIdsPerMessageMax; from < ids.length; from += mergedIdsPerMessageMax) {
    add(ids.slice(from, from + mergedIdsPerMessageMax), []);
  }
  for (let from = identifiersPerMessageMax; from < known.length; from += identifiersPerMessageMax) {
    add([], known.slice(from, from + identifiersPerMessageMax));
  }
  return messages;
}

function identified(identifiers: readonly NormalIdentifier[]): Change[] {
  const wanted = anonymous(identifiers);
  return wanted.length > 0 ? [{ case: "identified", value: { identifiers: wanted } }] : [];
}

/** The identifiers that anonymous events can have. */
function anonymous(identifiers: readonly NormalIdentifier[]): { type: string; value: string }[] {
  return identifiers.filter(({ type }) => !makesProfile(type)).map(({ type, value }) => ({ type, value }));
}

/** Adds messages to the outbox. @throws DaybookError `service_unavailable` when the outbox is full. */
export async function tell(
  tx: Transaction,
  attempt: Attempt,
  messages: readonly Message[],
  delaySeconds = 0,
): Promise<void> {
  attempt.checkRoom();
  await insertMessages(tx, [attempt.property, subject, delaySeconds, messages]);
  attempt.hasNews = true;
}

/**
 * Removes identifiers of profiles from messages that are not taken yet, except those that are being published.
 * @returns the removed identifiers, and the places of the old messages on the bus.
 */
export async function forgetIdentifiers(
  tx: Transaction,
  property: Uuid,
  profiles: readonly Uuid[],
): Promise<{ taken: NormalIdentifier[]; replaced: Place[] }> {
  const forgotten = new Set(profiles.map((id) => encodeId("prof", id)));
  const taken: NormalIdentifier[] = [];
  const replaced = await rewriteMessages(tx, { schema: "profile", property, subject }, (payload) => {
    const message = fromBinary(ProfilesChangedSchema, payload);
    const kept = message.changes.filter(({ profileId, change }) => {
      const isTaken = change.case === "identified" && forgotten.has(profileId);
      if (isTaken) taken.push(...change.value.identifiers);
      return !isTaken;
    });
    if (kept.length === message.changes.length) return undefined;
    return toBinary(ProfilesChangedSchema, { ...message, changes: kept });
  });
  return { taken, replaced };
}
