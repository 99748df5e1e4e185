/** Reads what is shown of profiles anew after a change. */
import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";

/** @returns a function that is done when what is on the screen is read anew. */
export function useRereadProfiles(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await Promise.all([
      client.invalidateQueries({ queryKey: createConnectQueryKey({ schema: ProfileService, cardinality: undefined }) }),
      client.invalidateQueries({ queryKey: createConnectQueryKey({ schema: EventService, cardinality: undefined }) }),
    ]);
  };
}
