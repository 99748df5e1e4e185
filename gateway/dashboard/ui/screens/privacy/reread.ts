/** Reads privacy requests and suppressions anew after a change. */
import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";

export function useRereadPrivacy(): () => void {
  const client = useQueryClient();
  return () =>
    void client.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: PrivacyService, cardinality: undefined }),
    });
}
