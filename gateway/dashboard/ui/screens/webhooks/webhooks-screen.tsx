/** Webhooks: where messages of the property go, and what became of each. */
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { Segments } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { PageHeader, Toolbar } from "../../components/page.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { useMay } from "../../data/viewer.ts";
import { outwardCalls } from "../../outward-calls.ts";
import "../../styles/apps.css";
import "../../styles/outward.css";
import "../../styles/team.css";
import { type DeliveryFilter, toQuery } from "./delivery-filter.ts";
import { Endpoints } from "./endpoints.tsx";

const CreateEndpoint = lazy(() => import("./create-endpoint.tsx"));
const Deliveries = lazy(() => import("./deliveries.tsx"));

const route = getRouteApi("/$property/webhooks");

export function WebhooksScreen(): React.ReactNode {
  const mayManage = useMay("webhooks:manage");
  const { show, endpoint, delivery, create, status, type, range } = route.useSearch();
  const navigate = route.useNavigate();
  const [openedAt] = useState(() => new Date());
  const filter: DeliveryFilter = { endpoint, status, type, range };
  const set = (next: DeliveryFilter & { delivery?: string | undefined; create?: "yes" | undefined }): void =>
    void navigate({ search: (before) => ({ ...before, ...next }) });
  const areDeliveries = show === "deliveries";
  return (
    <div className="screen">
      <PageHeader
        title="Webhooks"
        actions={
          <>
            <EqualsApiCall
              call={
                areDeliveries
                  ? outwardCalls.listWebhookDeliveries(toQuery(filter, openedAt))
                  : outwardCalls.listWebhookEndpoints()
              }
            />
            {mayManage && (
              <button type="button" className="button primary" onClick={() => set({ create: "yes" })}>
                <Icon name="plus" />
                Create a webhook
              </button>
            )}
          </>
        }
      >
        What happens here is sent to servers of yours as it happens, signed, and again until it gets through.
      </PageHeader>
      <Toolbar label="What">
        <Segments
          label="Show"
          value={show ?? "endpoints"}
          options={[
            { value: "endpoints", title: "Webhooks" },
            { value: "deliveries", title: "Deliveries" },
          ]}
          onChange={(value) =>
            void navigate({ search: value === "deliveries" ? { show: value, ...(endpoint && { endpoint }) } : {} })
          }
        />
      </Toolbar>
      {areDeliveries ? (
        <Suspense fallback={<Skeleton lines={8} />}>
          <Deliveries filter={filter} openId={delivery} onFilter={set} onOpen={(id) => set({ delivery: id })} />
        </Suspense>
      ) : (
        <Endpoints openId={endpoint} onOpen={(id) => set({ endpoint: id })} />
      )}
      {create === "yes" && mayManage && (
        <Suspense>
          <CreateEndpoint
            onClose={(id) => set({ create: undefined, ...(id !== undefined && !areDeliveries && { endpoint: id }) })}
          />
        </Suspense>
      )}
    </div>
  );
}
