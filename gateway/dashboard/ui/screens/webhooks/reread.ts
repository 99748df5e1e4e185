/** Reads endpoints, their health and their deliveries anew after a change. */
import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";

export function useRereadWebhooks(): () => void {
  const client = useQueryClient();
  return () =>
    void client.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: WebhookService, cardinality: undefined }),
    });
}
