/** Removes identifiers of erased persons from messages: in the outbox, on the bus and among the dead letters. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { PrivacyWorkDueSchema } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { ProfilesChangedSchema } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Place } from "#shared/bus/bus.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { readable, rewriteMessages } from "#shared/outbox/outbox.ts";
import { identifierKey, type NormalIdentifier } from "#shared/values/identifiers.ts";
import { encodeId, nilUuid, type Uuid } from "#shared/values/ids.ts";
import { subject as changedSubject } from "../announce.ts";
import type { ProfileContext } from "../context.ts";
import { readMessages } from "../sql/outbox.ts";

/** The subject that asks the other services for their part of the work. */
export const workSubject = "daybook.profile.privacy_due";

const pageRows = 500;

type Rewrite = (payload: Uint8Array) => Uint8Array | undefined;

/**
 * Empties what is left of a person in messages. What they ask for was done by then.
 * @returns the places of replaced messages, and whether no message is left: one that is being published may be.
 */
export async function clearMessages(
  context: ProfileContext,
  property: Uuid,
  request: Uuid,
  profiles: readonly Uuid[],
  known: readonly NormalIdentifier[],
): Promise<{ replaced: Place[]; isClear: boolean }> {
  const rewrites = new Map<string, Rewrite>([
    [changedSubject, withoutIdentifiers(profiles, known)],
    [workSubject, withoutPerson(request)],
  ]);
  const replaced: Place[] = [];
  let isClear = true;
  for (const [subject, rewrite] of rewrites) {
    const places = await withTransaction(context.database, (tx) =>
      rewriteMessages(tx, { schema: "profile", property, subject }, rewrite),
    );
    replaced.push(...places);
    await context.bus.rewriteDeadLetters(subject, readable(rewrite));
    isClear &&= await isEmpty(context, property, subject, rewrite);
  }
  return { replaced, isClear };
}

async function isEmpty(
  { database }: ProfileContext,
  property: Uuid,
  subject: string,
  rewrite: Rewrite,
): Promise<boolean> {
  for (let after: Uuid | undefined = nilUuid; after !== undefined;) {
    const rows: { id: Uuid; payload: Buffer }[] = await readMessages(database, [property, subject, after, pageRows]);
    if (rows.some(({ payload }) => rewrite(payload) !== undefined)) return false;
    after = rows.length < pageRows ? undefined : rows.at(-1)?.id;
  }
  return true;
}

/** Empties what changes of the profiles say of identifiers. */
function withoutIdentifiers(profiles: readonly Uuid[], known: readonly NormalIdentifier[]): Rewrite {
  const theirs = new Set(profiles.map((id) => encodeId("prof", id)));
  const values = new Set(known.map(identifierKey));
  const names = (identifiers: readonly NormalIdentifier[]): boolean =>
    identifiers.some((identifier) => values.has(identifierKey(identifier)));
  return (payload) => {
    const message = fromBinary(ProfilesChangedSchema, payload);
    let isChanged = false;
    for (const { profileId, change } of message.changes) {
      if (change.case !== "redacted" || !theirs.has(profileId)) continue;
      const { identifiers, knownIdentifiers } = change.value;
      if (!names(identifiers) && !names(knownIdentifiers)) continue;
      change.value.identifiers = [];
      change.value.knownIdentifiers = [];
      isChanged = true;
    }
    return isChanged ? toBinary(ProfilesChangedSchema, message) : undefined;
  };
}

function withoutPerson(request: Uuid): Rewrite {
  const id = encodeId("priv", request);
  return (payload) => {
    const message = fromBinary(PrivacyWorkDueSchema, payload);
    if (message.privacyRequestId !== id || message.identifiers.length === 0) return undefined;
    return toBinary(PrivacyWorkDueSchema, { ...message, identifiers: [] });
  };
}
