/** One app: what it may ask for, its secrets, where it is installed, and how it is stopped. */
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type App, AppService, type AppWebhook } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { KeyValues } from "../../components/page.tsx";
import { SidePanel } from "../../components/side-panel.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { ErrorState } from "../../components/states.tsx";
import { Time } from "../../components/values.tsx";
import { AppInstallations } from "./app-installations.tsx";
import { AppSecrets } from "./app-secrets.tsx";
import { ActivateApp, SuspendApp } from "./app-status.tsx";
import { EditApp } from "./edit-app.tsx";
import { HandOver } from "./hand-over.tsx";
import { Homepage } from "./homepage.tsx";
import { ScopeList } from "./scope-list.tsx";
import { AppState, hasSecrets, isSuspended } from "./states.tsx";

export function AppPanel({ appId, onClose }: { appId: string; onClose: () => void }): React.ReactNode {
  const { data, error, refetch } = useQuery(AppService.method.getApp, { appId });
  return (
    <SidePanel title={data?.app?.name ?? "App"} onClose={onClose}>
      {data?.app ? (
        <Facts app={data.app} />
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton lines={8} />
      )}
    </SidePanel>
  );
}

function Webhook({ of: { url, types } }: { of: AppWebhook }): React.ReactNode {
  return (
    <>
      <code>{url}</code> {types.includes("*") ? "All types of messages" : types.join(", ")}
    </>
  );
}

function Facts({ app }: { app: App }): React.ReactNode {
  const [asked, setAsked] = useState<"edit" | "suspend" | "activate">();
  const done = (): void => setAsked(undefined);
  return (
    <>
      {app.description !== "" && <p>{app.description}</p>}
      <KeyValues
        rows={{
          State: <AppState of={app} />,
          "Client id": <Copy text={app.id} />,
          Runs: hasSecrets(app) ? "On a server: confidential" : "At its users: public",
          Homepage: app.homepageUrl !== undefined && <Homepage url={app.homepageUrl} />,
          Webhook: app.webhook && <Webhook of={app.webhook} />,
          Created: <Time at={app.createdAt} focusable />,
          Changed: <Time at={app.updatedAt} focusable />,
        }}
      />
      <div className="actions">
        <button type="button" className="button" onClick={() => setAsked("edit")}>
          Edit
        </button>
        {isSuspended(app) ? (
          <button type="button" className="button" onClick={() => setAsked("activate")}>
            Activate
          </button>
        ) : (
          <button type="button" className="button dangerous" onClick={() => setAsked("suspend")}>
            Suspend
          </button>
        )}
      </div>
      <h3>Redirect addresses</h3>
      <ul className="plain">
        {app.redirectUris.map((uri) => (
          <li key={uri}>
            <code>{uri}</code>
          </li>
        ))}
      </ul>
      {hasSecrets(app) && <AppSecrets app={app} />}
      <h3>The most that it may ask for</h3>
      <ScopeList scopes={app.scopes} />
      <h3>Installed in</h3>
      <AppInstallations appId={app.id} />
      <details>
        <summary>For the partner</summary>
        <HandOver appId={app.id} />
      </details>
      {asked === "edit" && <EditApp app={app} onClose={done} />}
      {asked === "suspend" && <SuspendApp app={app} onClose={done} />}
      {asked === "activate" && <ActivateApp app={app} onClose={done} />}
    </>
  );
}
