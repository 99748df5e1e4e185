/** Reads apps and installations anew after a change. */
import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { AppService } from "#proto/daybook/identity/v1/apps_pb.ts";

export function useRereadApps(): () => void {
  const client = useQueryClient();
  // A change of an app may end installations, and both are in lists and panels.
  return () =>
    void client.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: AppService, cardinality: undefined }),
    });
}
