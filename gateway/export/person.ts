/** The person of an access request: what the stream is made of, and whether it can still be made. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { PrivacyRequest } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { ProfileStatus, type Merge, type Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import type { Services } from "../clients.ts";

export interface Identifier {
  type: string;
  value: string;
}

/** What an access request found, to be streamed on behalf of a caller. */
export interface Person {
  services: Services;
  propertyId: string;
  request: PrivacyRequest;
  /** Only what was on record then is streamed. */
  asOf: Timestamp;
  profileIds: readonly string[];
  /** As they were named. */
  identifiers: readonly Identifier[];
}

// A profile has up to 512 KB.
const profilesPerPage = 20;
const mergesPerPage = 500;

/**
 * Opens the stream of an access request.
 * @throws DaybookError `resource_not_found`, `not_ready`, `invalid_state_transition` or `download_expired`
 */
export async function openPerson(services: Services, propertyId: string, privacyRequestId: string): Promise<Person> {
  const asked = { propertyId, privacyRequestId };
  const { request, profileIds, identifiers } = await services.privacy.openExport(asked, () => "id");
  const asOf = request?.download?.asOf;
  if (!request || !asOf) throw new Error("the privacy request was returned without its download");
  const person = { services, propertyId, request, asOf, profileIds, identifiers };
  await checkMerges(person);
  return person;
}

/**
 * Checks that nobody was erased since, and nobody merged.
 * @throws DaybookError `download_expired`
 */
export async function checkPerson(person: Person): Promise<void> {
  const { services, propertyId, request } = person;
  await services.privacy.openExport({ propertyId, privacyRequestId: request.id });
  await checkMerges(person);
}

/** Reads the profiles, as they are now. @throws DaybookError `download_expired` for one that was emptied since. */
export async function* profilesOf({ services, propertyId, profileIds, asOf }: Person): AsyncGenerator<Profile[]> {
  const known = new Set(profileIds);
  for (let from = 0; from < profileIds.length; from += profilesPerPage) {
    const page = profileIds.slice(from, from + profilesPerPage);
    const { profiles } = await services.profiles.getProfiles({ propertyId, profileIds: page });
    for (const { status, updatedAt, mergedInto = "" } of profiles) {
      const isNew = updatedAt !== undefined && isAfter(updatedAt, asOf);
      if (status === ProfileStatus.REDACTED && isNew) throw ended("The person was erased since.");
      if (status === ProfileStatus.MERGED && !known.has(mergedInto)) throw mergedSince();
    }
    yield profiles.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  }
}

/** Reads the merges of the person's profiles. @throws DaybookError `download_expired` for one with somebody else. */
export async function* mergesOf(person: Person, survivors: readonly string[]): AsyncGenerator<Merge[]> {
  const { services, propertyId, profileIds, asOf } = person;
  const known = new Set(profileIds);
  for (const profileId of survivors) {
    for (let hasMore = true, afterMergeId: string | undefined; hasMore;) {
      const page = await services.profiles.listMerges({ propertyId, profileId, afterMergeId, limit: mergesPerPage });
      if (page.merges.some(({ sourceId }) => !known.has(sourceId))) throw mergedSince();
      yield page.merges.filter(({ mergedAt }) => mergedAt !== undefined && !isAfter(mergedAt, asOf));
      afterMergeId = page.merges.at(-1)?.mergeId;
      ({ hasMore } = page);
    }
  }
}

/** What a merge since brought cannot be told from what was there, and the other may be another person's. */
async function checkMerges(person: Person): Promise<void> {
  for await (const profiles of profilesOf(person)) {
    const merges = mergesOf(person, survivorsAmong(profiles));
    while (!(await merges.next()).done);
  }
}

/** The ids of those that were not merged away. */
export function survivorsAmong(profiles: readonly Profile[]): string[] {
  return profiles.flatMap(({ id, status }) => (status === ProfileStatus.MERGED ? [] : [id]));
}

/** Whether something is newer than what the stream holds. */
export function isAfter(time: Timestamp, asOf: Timestamp): boolean {
  return fromTimestamp(time) > fromTimestamp(asOf);
}

function mergedSince(): DaybookError {
  return ended("One of the profiles was merged with another since.");
}

function ended(why: string): DaybookError {
  return new DaybookError("download_expired", `${why} Make a new request.`, { param: "id" });
}
