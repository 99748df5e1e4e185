/** Reads the list of keys anew after a change. */
import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";

export function useRereadKeys(): () => void {
  const client = useQueryClient();
  return () =>
    void client.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: IdentityService.method.listKeys, cardinality: "infinite" }),
    });
}
