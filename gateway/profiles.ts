/**
 * Reads and writes of single profiles. Those of concurrent requests share RPCs (batcher.ts). A full queue answers 503,
 * so that waiting times stay bounded.
 */
import type { Client } from "@connectrpc/connect";
import type {
  Profile,
  ProfileService,
  UpsertProfileRequest,
  UpsertProfilesResult,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { createBatcher } from "#shared/scheduling/batcher.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { fromErrorMessage } from "#shared/rpc/errors.ts";
import { createFairShare } from "#shared/scheduling/fair-share.ts";
import { callOptions, type Call } from "#shared/rpc/interceptors.ts";

export interface Profiles {
  /** Reads a profile, also a merged one; undefined if the property has none of this id. */
  readOne(propertyId: string, profileId: string, call: Call): Promise<Profile | undefined>;
  /** Like readOne, but follows merges to the survivor. */
  readSurvivor(propertyId: string, profileId: string, call: Call): Promise<Profile | undefined>;
  /** @throws DaybookError why the upsert was refused */
  upsertOne(propertyId: string, request: UpsertProfileRequest, call: Call): Promise<Upserted>;
  /** Waits until every call is answered. */
  drain(): Promise<void>;
}

export interface Upserted {
  profile?: Profile;
  created: boolean;
}

const readItemsMax = 200;
const upsertItemsMax = 100;
const upsertBytesMax = 2 * 1024 * 1024;
const flushesMax = 8;
// Contended upserts hold a database connection while they wait for each other, and other calls need connections too.
const contendedMax = 4;
const contendedPerPropertyMax = 3;
const contendedWaitingMax = 10_000;
const contendedWaitingPerPropertyMax = 5_000;
const contendedWaitMsMax = 30_000;
const queueItemsMax = 10_000;

export function createProfiles(client: Client<typeof ProfileService>): Profiles {
  const reads = createBatcher<{ profileId: string; call: Call }, Profile | undefined>({
    async flush(propertyId, items) {
      const [first] = items;
      if (!first) return [];
      const profileIds = items.map(({ profileId }) => profileId);
      const { profiles } = await client.getProfiles({ propertyId, profileIds }, callOptions(first.call));
      const found = new Map(profiles.map((profile) => [profile.id, profile]));
      return profileIds.map((id) => found.get(id));
    },
    sizeOf: () => 1,
    flushItemsMax: readItemsMax,
    flushSizeMax: readItemsMax,
    flushesMax,
    queueItemsMax,
    queueFull,
  });

  const upserts = createBatcher<{ request: UpsertProfileRequest; call: Call }, UpsertProfilesResult>({
    async flush(propertyId, items) {
      const [first] = items;
      if (!first) return [];
      const requests = items.map(({ request }) => request);
      const response = client.upsertProfiles(
        { propertyId, items: requests, returnProfiles: true, skipContended: true },
        callOptions(first.call),
      );
      return (await response).results;
    },
    sizeOf: ({ request }) => lengthOf(request),
    flushItemsMax: upsertItemsMax,
    flushSizeMax: upsertBytesMax,
    flushesMax,
    queueItemsMax,
    queueFull,
  });

  // Upserts that would wait for another write to the same profile are sent again as single calls, in their own queue.
  const contended = createFairShare({
    slotsMax: contendedMax,
    slotsPerKeyMax: contendedPerPropertyMax,
    waitingMax: contendedWaitingMax,
    waitingPerKeyMax: contendedWaitingPerPropertyMax,
    waitMsMax: contendedWaitMsMax,
    refusal: queueFull,
  });

  const readOne: Profiles["readOne"] = (propertyId, profileId, call) => reads.add(propertyId, { profileId, call });

  return {
    readOne,
    async readSurvivor(propertyId, profileId, call) {
      let profile = await readOne(propertyId, profileId, call);
      // The survivor may be merged between the reads.
      while (profile?.mergedInto !== undefined) profile = await readOne(propertyId, profile.mergedInto, call);
      return profile;
    },
    async upsertOne(propertyId, request, call) {
      const { outcome } = await upserts.add(propertyId, { request, call });
      if (outcome.case === "upserted") return outcome.value;
      if (outcome.case === "error") throw fromErrorMessage(outcome.value);
      return contended.run(propertyId, () => client.upsertProfile({ ...request, propertyId }, callOptions(call)));
    },
    async drain() {
      await Promise.all([reads.drain(), upserts.drain()]);
      await contended.drain();
    },
  };
}

/** Approximate number of characters of a request. */
function lengthOf({ attributesJson = "", attributeOperations, identifiers, location }: UpsertProfileRequest): number {
  let length = attributesJson.length;
  for (const { path, valueJson = "" } of attributeOperations) length += path.join("").length + valueJson.length;
  for (const { type, value } of identifiers) length += type.length + value.length;
  for (const text of Object.values(location?.set ?? {})) if (typeof text === "string") length += text.length;
  return length;
}

function queueFull(): DaybookError {
  const message = "More requests are waiting for profiles than can be answered. Try again in a second.";
  return new DaybookError("service_unavailable", message);
}
