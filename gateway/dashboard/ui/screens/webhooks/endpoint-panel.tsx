/** One endpoint: what it is told, how it gets on, and what can be done with it. */
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Endpoint, type EndpointHealth, WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { Copy } from "../../components/copy.tsx";
import { Menu } from "../../components/menu.tsx";
import { KeyValues } from "../../components/page.tsx";
import { SidePanel } from "../../components/side-panel.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { ErrorState } from "../../components/states.tsx";
import { Count, Time, useNow } from "../../components/values.tsx";
import { dateOf } from "../../data/times.ts";
import { useProperty } from "../../data/viewer.ts";
import { outwardCalls } from "../../outward-calls.ts";
import { EditEndpoint } from "./edit-endpoint.tsx";
import { DeleteEndpoint, RotateSecret, SetStatus } from "./endpoint-acts.tsx";
import { SuccessRate } from "./health.tsx";
import { Maker } from "./maker.tsx";
import { ReplayMessages } from "./replay.tsx";
import { EndpointState, endingOf, isEnabled } from "./states.tsx";
import { TestEndpoint } from "./test-endpoint.tsx";
import { typeInWords } from "./types.ts";

export default function EndpointPanel({
  endpointId,
  health,
  onClose,
}: {
  endpointId: string;
  health: EndpointHealth | undefined;
  onClose: () => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { data, error, refetch } = useQuery(WebhookService.method.getEndpoint, { propertyId, endpointId });
  const endpoint = data?.endpoint;
  const title = endpoint?.description ?? "";
  return (
    <SidePanel title={title === "" ? "Webhook" : title} onClose={onClose}>
      {endpoint ? (
        <Facts endpoint={endpoint} health={health} onGone={onClose} />
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton lines={8} />
      )}
    </SidePanel>
  );
}

type Asked = "edit" | "test" | "replay" | "rotate" | "enabled" | "disabled" | "delete";

function Facts({
  endpoint,
  health,
  onGone,
}: {
  endpoint: Endpoint;
  health: EndpointHealth | undefined;
  onGone: () => void;
}): React.ReactNode {
  const { id: property } = useProperty();
  const now = useNow();
  const [asked, setAsked] = useState<Asked>();
  const done = (): void => setAsked(undefined);
  const { filter, previousSecretUntil, appId } = endpoint;
  const isOfApp = appId !== undefined;
  const hasBoth = previousSecretUntil !== undefined && dateOf(previousSecretUntil) > now;
  return (
    <>
      {!isEnabled(endpoint) && <p className="advice">{endingOf(endpoint).advice}</p>}
      {isOfApp && (
        <p className="help">
          The webhook of an app that is installed here. Its partner decides where it is and what it is told, and has its
          secret.
        </p>
      )}
      <KeyValues
        rows={{
          State: <EndpointState of={endpoint} health={health} />,
          URL: <Copy text={endpoint.url} label="Copy the URL" />,
          Id: <Copy text={endpoint.id} />,
          "Last 24 hours": health && <SuccessRate of={health} />,
          Waiting: health && <Count value={health.pending} />,
          "Last success": endpoint.lastSuccessAt ? <Time at={endpoint.lastSuccessAt} focusable /> : "Never",
          Replay: health?.replay && (
            <>
              Under way: <Count value={health.replay.deliveries} /> messages so far
            </>
          ),
          "Made by": <Maker id={endpoint.createdBy} appId={appId} />,
          Created: <Time at={endpoint.createdAt} focusable />,
          Changed: <Time at={endpoint.updatedAt} focusable />,
          "API revision": <code>{endpoint.revision}</code>,
          "At most": endpoint.rateLimitPerSecond !== undefined && (
            <>
              <Count value={endpoint.rateLimitPerSecond} /> a second
            </>
          ),
          "Old secret": hasBoth && (
            <>
              signs too, ends <Time at={previousSecretUntil} focusable />
            </>
          ),
        }}
      />
      <div className="actions">
        <Link
          to="/$property/webhooks"
          params={{ property }}
          search={{ show: "deliveries", endpoint: endpoint.id }}
          className="button"
        >
          Deliveries
        </Link>
        <button type="button" className="button" onClick={() => setAsked("test")}>
          Send a test
        </button>
        {isEnabled(endpoint) && (
          <button type="button" className="button" onClick={() => setAsked("replay")}>
            Replay …
          </button>
        )}
        <EqualsApiCall call={outwardCalls.readWebhookEndpoint(endpoint.id)} />
        <Menu
          label="More that can be done with it"
          trigger="More …"
          items={[
            ...(isOfApp
              ? []
              : [
                  { id: "edit", title: "Edit" },
                  { id: "rotate", title: "Rotate the secret" },
                ]),
            isEnabled(endpoint) ? { id: "disabled", title: "Disable" } : { id: "enabled", title: "Enable" },
            { id: "delete", title: "Delete …", isDangerous: true },
          ]}
          onAction={(id) => setAsked(id as Asked)}
        />
      </div>
      <h3>It is told when</h3>
      <ul className="scope-words">
        {endpoint.types.map((type) => (
          <li key={type}>
            {typeInWords(type)}
            <code className="help">{type}</code>
          </li>
        ))}
      </ul>
      {filter && filter.eventTypes.length + filter.sources.length > 0 && (
        <>
          <h3>Only some events</h3>
          <KeyValues
            rows={{
              Types: filter.eventTypes.length > 0 && <Codes of={filter.eventTypes} />,
              Sources: filter.sources.length > 0 && <Codes of={filter.sources} />,
            }}
          />
        </>
      )}
      {endpoint.headerNames.length > 0 && (
        <>
          <h3>Headers of its own</h3>
          <Codes of={endpoint.headerNames} />
        </>
      )}
      {asked === "edit" && <EditEndpoint endpoint={endpoint} onClose={done} />}
      {asked === "test" && <TestEndpoint endpoint={endpoint} onClose={done} />}
      {asked === "replay" && <ReplayMessages endpoint={endpoint} onClose={done} />}
      {asked === "rotate" && <RotateSecret endpoint={endpoint} onClose={done} />}
      {(asked === "enabled" || asked === "disabled") && <SetStatus endpoint={endpoint} to={asked} onClose={done} />}
      {asked === "delete" && <DeleteEndpoint endpoint={endpoint} onDeleted={onGone} onClose={done} />}
    </>
  );
}

function Codes({ of }: { of: readonly string[] }): React.ReactNode {
  return (
    <ul className="scope-list">
      {of.map((text) => (
        <li key={text}>
          <code>{text}</code>
        </li>
      ))}
    </ul>
  );
}
