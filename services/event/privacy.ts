/** This service's part of privacy requests: what it holds of a person. */
import { create } from "@bufbuild/protobuf";
import { PrivacyCountsSchema, type PrivacyCounts } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { makesProfile, type NormalIdentifier } from "#shared/values/identifiers.ts";
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import { findOwners } from "./attribution.ts";
import type { EventContext } from "./context.ts";
import { empty, emptyAnonymous, forgetAnswersOf } from "./emptying.ts";
import { countRejectedWrites } from "./rejected-emptying.ts";
import { findDetached } from "./sql/partitions.ts";
import { countAnonymousEvents, countReceived } from "./sql/profile-events.ts";
import { emptyTexts } from "./texts.ts";

/** Whom a privacy request is about. */
export interface Person {
  property: Uuid;
  /** TypeIDs. */
  profileIds: readonly string[];
  /** Everything that the person was known by, in normal form. */
  identifiers: readonly NormalIdentifier[];
}

const detachedShownMax = 5;

/** Counts what there is of a person. Of events those that were received up to an instant. */
export async function countPerson(
  context: EventContext,
  { property, profileIds, identifiers }: Person,
  receivedUpTo: Instant,
): Promise<PrivacyCounts> {
  const { database } = context;
  const profiles = profileIds.map((id) => decodeId("prof", id, "profile_ids"));
  const [events] = await countReceived(database, [property, profiles, receivedUpTo]);
  let anonymousEvents = 0;
  for (const { type, value } of identifiers) {
    const [found] = await countAnonymousEvents(database, [property, type, value, receivedUpTo]);
    anonymousEvents += found?.count ?? 0;
  }
  return create(PrivacyCountsSchema, {
    events: BigInt(events?.count ?? 0),
    anonymousEvents: BigInt(anonymousEvents),
    rejectedWrites: BigInt(await countRejectedWrites(context, property, { profileIds, identifiers })),
  });
}

/** Empties what is under identifiers that no profile has. What profiles have is emptied with their redaction. */
export async function emptyNobodys(context: EventContext, person: Person): Promise<void> {
  const { property, profileIds, identifiers } = person;
  await emptyAnonymous(context, property, await findNobodys(context, person));
  await forgetAnswersOf(context, property, [], identifiers);
  await emptyTexts(context, property, profileIds, identifiers);
}

/** Empties all that is left of a person, once no write that was under way can come any more. */
export async function sweepPerson(context: EventContext, person: Person): Promise<void> {
  const { property, profileIds, identifiers } = person;
  await empty(context, property, profileIds, { isRepeated: true, identifiers });
  await emptyNobodys(context, person);
}

/** The identifiers that anonymous events may have, and no profile has. */
async function findNobodys(
  context: EventContext,
  { property, identifiers }: Person,
): Promise<readonly NormalIdentifier[]> {
  const wanted = identifiers.filter(({ type }) => !makesProfile(type));
  const owned = new Set([...(await findOwners(context, property, wanted)).values()].flat());
  return wanted.filter((identifier) => !owned.has(identifier));
}

/** What is out of reach, in sentences. */
export async function findNotReached({ database }: EventContext): Promise<string[]> {
  const detached = await findDetached(database, [detachedShownMax]);
  const [first] = detached;
  if (!first) return [];
  const names = detached.map(({ name }) => `event.${name}`).join(", ");
  const rest = first.count > detached.length ? ` and ${first.count - detached.length} more` : "";
  return [`Events in detached partitions are not reached: ${names}${rest}. Drop these tables to erase them.`];
}
