/** Sends a test to an endpoint, and shows what it answered. */
import { useMutation } from "@connectrpc/connect-query";
import { useEffect, useRef } from "react";
import { DeliveryStatus, type Endpoint, WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { Dialog } from "../../components/dialog.tsx";
import { InlineError } from "../../components/field.tsx";
import { Attempts } from "./attempts.tsx";
import { useRereadWebhooks } from "./reread.ts";

export function TestEndpoint({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }): React.ReactNode {
  const test = useMutation(WebhookService.method.testEndpoint, { onSettled: useRereadWebhooks() });
  const { mutate, isPending, isIdle, data, error } = test;
  const { propertyId, id: endpointId } = endpoint;
  const send = (): void => mutate({ propertyId, endpointId });
  // Once, also where React runs effects twice.
  const isSent = useRef(false);
  useEffect(() => {
    if (isSent.current) return;
    isSent.current = true;
    mutate({ propertyId, endpointId });
  }, [mutate, propertyId, endpointId]);
  const isGood = data?.delivery?.status === DeliveryStatus.DELIVERED;
  return (
    <Dialog title="Test of the webhook" onClose={onClose}>
      <p>
        A message of the type <code>webhook.test</code> goes to <code>{endpoint.url}</code>.
      </p>
      <div role="status">
        {(isPending || isIdle) && <p className="muted">Waiting for the answer, at most 15 seconds …</p>}
        {data && (
          <p>
            <strong>{isGood ? "It got through." : "It did not get through."}</strong>{" "}
            {!isGood && "A test is not tried again by itself."}
          </p>
        )}
      </div>
      {data?.delivery && !isPending && <Attempts of={data.delivery} />}
      <InlineError error={error} />
      <footer>
        <button type="button" className="button" disabled={isPending || isIdle} onClick={send}>
          Test again
        </button>
        <button type="button" className="button primary" onClick={onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  );
}
