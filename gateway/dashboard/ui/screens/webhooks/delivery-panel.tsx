/** One delivery: what was sent, how often, and what came back. */
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { type Delivery, DeliveryStatus, type Endpoint, WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { Copy } from "../../components/copy.tsx";
import { InlineError } from "../../components/field.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { KeyValues } from "../../components/page.tsx";
import { SidePanel } from "../../components/side-panel.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { ErrorState } from "../../components/states.tsx";
import { toast } from "../../components/toasts.tsx";
import { Time } from "../../components/values.tsx";
import { useProperty } from "../../data/viewer.ts";
import { outwardCalls } from "../../outward-calls.ts";
import { Attempts } from "./attempts.tsx";
import { nameOf } from "./endpoints.tsx";
import { useRereadWebhooks } from "./reread.ts";
import { DeliveryState, isEnabled, triggers } from "./states.tsx";

const rereadMs = 3_000;

export function DeliveryPanel({
  deliveryId,
  endpoint,
  onClose,
}: {
  deliveryId: string;
  endpoint: (id: string) => Endpoint | undefined;
  onClose: () => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { data, error, refetch } = useQuery(
    WebhookService.method.getDelivery,
    { propertyId, deliveryId },
    {
      // What was read before a retry is old.
      staleTime: 0,
      refetchInterval: ({ state }) => (state.data?.delivery?.status === DeliveryStatus.PENDING ? rereadMs : false),
    },
  );
  const delivery = data?.delivery;
  return (
    <SidePanel title={delivery?.type ?? "Delivery"} onClose={onClose}>
      {delivery ? (
        <Facts delivery={delivery} endpoint={endpoint(delivery.endpointId)} />
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton lines={8} />
      )}
    </SidePanel>
  );
}

function Facts({ delivery, endpoint }: { delivery: Delivery; endpoint: Endpoint | undefined }): React.ReactNode {
  const { id: property } = useProperty();
  const reread = useRereadWebhooks();
  const retry = useMutation(WebhookService.method.retryDelivery, {
    onSuccess: () => {
      reread();
      toast("It is sent again.");
    },
  });
  const { payloadJson } = delivery;
  const mayRetry = payloadJson !== undefined && endpoint !== undefined && isEnabled(endpoint);
  return (
    <>
      <KeyValues
        rows={{
          State: <DeliveryState of={delivery} />,
          Webhook: (
            <Link to="/$property/webhooks" params={{ property }} search={{ endpoint: delivery.endpointId }}>
              {endpoint ? nameOf(endpoint) : delivery.endpointId}
            </Link>
          ),
          "Sent to": endpoint && <Copy text={endpoint.url} label="Copy the URL" />,
          Why: triggers[delivery.trigger],
          "webhook-id": <Copy text={delivery.messageId} />,
          Id: <Copy text={delivery.id} />,
          Created: <Time at={delivery.createdAt} focusable />,
          "Sent again": delivery.nextAttemptAt && <Time at={delivery.nextAttemptAt} focusable />,
          Ended: delivery.completedAt && <Time at={delivery.completedAt} focusable />,
        }}
      />
      <div className="actions">
        <button
          type="button"
          className="button"
          disabled={!mayRetry || retry.isPending}
          onClick={() => retry.mutate({ propertyId: delivery.propertyId, deliveryId: delivery.id })}
        >
          Send again
        </button>
        <EqualsApiCall call={outwardCalls.readWebhookDelivery(delivery.id)} />
      </div>
      {!mayRetry && (
        <p className="help">
          {payloadJson === undefined
            ? "It cannot be sent again: its body was emptied."
            : "It cannot be sent again: its webhook is disabled or deleted."}
        </p>
      )}
      <InlineError error={retry.error} />
      <h3>Attempts</h3>
      <Attempts of={delivery} />
      <h3>Body</h3>
      {payloadJson === undefined ? (
        <p className="muted">It was emptied: it is older than 30 days, or its person was redacted or erased.</p>
      ) : (
        <JsonView text={payloadJson} label="Body" />
      )}
    </>
  );
}
