/** When each profile of a list last did something: one call for each page. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { createQueryOptions } from "@connectrpc/connect-query";
import { useQueries } from "@tanstack/react-query";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import type { Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { transport } from "../../data/transport.ts";

export function useLastEvents(
  propertyId: string,
  pages: readonly { profiles: readonly Profile[] }[],
): ReadonlyMap<string, Timestamp> {
  return useQueries({
    queries: pages
      .filter(({ profiles }) => profiles.length > 0)
      .map(({ profiles }) =>
        createQueryOptions(
          EventService.method.getLastEvents,
          { propertyId, profileIds: profiles.map(({ id }) => id) },
          { transport },
        ),
      ),
    combine: (results) =>
      new Map(
        results.flatMap(({ data }) =>
          (data?.lastEvents ?? []).flatMap(({ profileId, occurredAt }) =>
            occurredAt ? [[profileId, occurredAt] as const] : [],
          ),
        ),
      ),
  });
}
