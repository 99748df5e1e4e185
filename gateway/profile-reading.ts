/**
 * The way out for single profiles. Reads of concurrent requests ride together in one call, as batcher.ts tells. A full queue answers 503, so that
 * no wait grows without end.
 */
import type { Client } from "@connectrpc/connect";
import type { Profile, ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { createBatcher } from "#shared/batcher.ts";
import { DaybookError } from "#shared/errors.ts";
import { callOptions, calling, type Call } from "#shared/interceptors.ts";

/** Reads profiles for the routes of all surfaces. */
export interface ProfileReading {
  /** Reads one profile as it is, be it merged; undefined when the property has none of this id. */
  readOne(propertyId: string, profileId: string, call: Call): Promise<Profile | undefined>;
}

const flushItemsMax = 200;
const flushesMax = 8;
const queueItemsMax = 10_000;

export function createProfileReading(client: Client<typeof ProfileService>): ProfileReading {
  const reads = createBatcher<{ profileId: string; call: Call }, Profile | undefined>({
    async flush(propertyId, items) {
      const [first] = items;
      if (!first) return [];
      const profileIds = items.map(({ profileId }) => profileId);
      const { profiles } = await calling(client.getProfiles({ propertyId, profileIds }, callOptions(first.call)));
      const found = new Map(profiles.map((profile) => [profile.id, profile]));
      return profileIds.map((id) => found.get(id));
    },
    sizeOf: () => 1,
    flushItemsMax,
    flushSizeMax: flushItemsMax,
    flushesMax,
    queueItemsMax,
    queueFull: () =>
      new DaybookError("service_unavailable", "More profiles are asked for than can be read. Try again in a second."),
  });
  return { readOne: (propertyId, profileId, call) => reads.add(propertyId, { profileId, call }) };
}
