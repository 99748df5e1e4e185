/** One installation: what the app may do in the property, who let it in, and how it ends. */
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type App, AppService, type Installation } from "#proto/daybook/identity/v1/apps_pb.ts";
import { apiCalls } from "../../api-calls.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { Copy } from "../../components/copy.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { KeyValues } from "../../components/page.tsx";
import { SidePanel } from "../../components/side-panel.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { ErrorState } from "../../components/states.tsx";
import { toast } from "../../components/toasts.tsx";
import { Time } from "../../components/values.tsx";
import { useMay, useMayEverywhere, useProperty } from "../../data/viewer.ts";
import { Homepage } from "./homepage.tsx";
import { useMemberNames } from "./names.ts";
import { useRereadApps } from "./reread.ts";
import { ScopeList } from "./scope-list.tsx";
import { endingOf, InstallationState, isActive } from "./states.tsx";

export function InstallationPanel({
  installationId,
  onClose,
}: {
  installationId: string;
  onClose: () => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { data, error, refetch } = useQuery(AppService.method.getInstallation, { propertyId, installationId });
  return (
    <SidePanel title={data?.app?.name ?? "App"} onClose={onClose}>
      {data?.installation && data.app ? (
        <Facts installation={data.installation} app={data.app} />
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton lines={8} />
      )}
    </SidePanel>
  );
}

function Facts({ installation, app }: { installation: Installation; app: App }): React.ReactNode {
  const { id: property } = useProperty();
  const mayManage = useMay("apps:manage");
  const mayManageAll = useMayEverywhere("apps:manage");
  const [isAsked, setAsked] = useState(false);
  const isOpen = isActive(installation);
  return (
    <>
      {app.description !== "" && <p>{app.description}</p>}
      {!isOpen && <p className="advice">{endingOf(installation).advice}</p>}
      <KeyValues
        rows={{
          State: <InstallationState of={installation} />,
          Id: <Copy text={installation.id} />,
          App: mayManageAll ? (
            <Link to="/$property/apps" params={{ property }} search={{ in: "all", app: app.id }}>
              Open it in All apps
            </Link>
          ) : (
            <Copy text={app.id} />
          ),
          Homepage: app.homepageUrl !== undefined && <Homepage url={app.homepageUrl} />,
          "Installed by": <Installer memberId={installation.installedBy} />,
          "First installed": <Time at={installation.createdAt} focusable />,
          "Last consent": isOpen && <Time at={installation.updatedAt} focusable />,
          Ended: installation.revokedAt && <Time at={installation.revokedAt} focusable />,
          "Last used": installation.lastUsedAt ? <Time at={installation.lastUsedAt} focusable /> : "Never",
          "API revision": <code>{installation.revision}</code>,
        }}
      />
      <div className="actions">
        <EqualsApiCall call={[apiCalls.readInstallation(installation.id), apiCalls.readApp(app.id)]} />
        {isOpen && mayManage && (
          <button type="button" className="button dangerous" onClick={() => setAsked(true)}>
            Uninstall
          </button>
        )}
      </div>
      <h3>{isOpen ? "It may" : "It could"}</h3>
      <ScopeList scopes={installation.scopes} />
      {isAsked && <Uninstall installation={installation} app={app} onClose={() => setAsked(false)} />}
    </>
  );
}

function Installer({ memberId }: { memberId: string }): React.ReactNode {
  const { id: property } = useProperty();
  const name = useMemberNames()(memberId);
  // Only who manages members has their screen.
  const maySee = useMayEverywhere("members:manage");
  if (name === memberId) return <Copy text={memberId} />;
  if (!maySee) return name;
  return (
    <Link to="/$property/members" params={{ property }} search={{ member: memberId }}>
      {name}
    </Link>
  );
}

function Uninstall({
  installation,
  app,
  onClose,
}: {
  installation: Installation;
  app: App;
  onClose: () => void;
}): React.ReactNode {
  const { name: place } = useProperty();
  const reread = useRereadApps();
  const end = useMutation(AppService.method.endInstallation, {
    onSuccess: () => {
      reread();
      toast(`${app.name} is uninstalled.`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Uninstall ${app.name}?`}
      action="Uninstall the app"
      isPending={end.isPending}
      error={end.error}
      onConfirm={() => end.mutate({ propertyId: installation.propertyId, installationId: installation.id })}
      onClose={onClose}
    >
      <p>All of its tokens for {place} end: within 5 seconds each of its requests is refused, and it may no longer:</p>
      {/* Its list may be long, and the button stays in sight. */}
      <div className="scopes" role="region" tabIndex={0} aria-label="What it may no longer do">
        <ScopeList scopes={installation.scopes} />
      </div>
      <p>
        What it recorded stays, and it keeps what it has read. To have it back, somebody of this property must consent
        anew, starting at the partner.
      </p>
    </ConfirmDialog>
  );
}
