/** Suspends an app, and activates it again. */
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { type App, AppService, AppStatus } from "#proto/daybook/identity/v1/apps_pb.ts";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { toast } from "../../components/toasts.tsx";
import { placeOf } from "../../data/roles.ts";
import { useViewer } from "../../data/viewer.ts";
import { useRereadApps } from "./reread.ts";
import { isActive } from "./states.tsx";

const readMax = 500;
const namedMax = 10;

export function SuspendApp({ app, onClose }: { app: App; onClose: () => void }): React.ReactNode {
  const update = useStatus(`${app.name} is suspended.`, onClose);
  return (
    <ConfirmDialog
      title={`Suspend ${app.name}?`}
      action="Suspend the app"
      isPending={update.isPending}
      error={update.error}
      onConfirm={() => update.mutate({ appId: app.id, status: AppStatus.SUSPENDED })}
      onClose={onClose}
    >
      <Places appId={app.id} />
      <p>
        Nobody can install it until it is active again. Then each property must install it anew: what ends now does not
        come back. What it recorded stays.
      </p>
    </ConfirmDialog>
  );
}

/** Where it has access now. */
function Places({ appId }: { appId: string }): React.ReactNode {
  const { properties } = useViewer();
  const { data, isError } = useQuery(AppService.method.listInstallations, { appId, limit: readMax });
  if (!data)
    return (
      <p>{isError ? "It loses its access in every property, within 5 seconds." : "Reading where it is installed …"}</p>
    );
  const active = data.installations.filter(isActive);
  const more = active.length - namedMax;
  if (active.length === 0 && !data.hasMore) return <p>No property has it installed now.</p>;
  return (
    <>
      <p>
        It loses its access within 5 seconds, in {data.hasMore ? "more than " : ""}
        {active.length === 1 ? "one property" : `${active.length} properties`}:
      </p>
      <ul className="bullets">
        {active.slice(0, namedMax).map(({ id, propertyId }) => (
          <li key={id}>{placeOf({ propertyId }, properties)}</li>
        ))}
        {more > 0 && <li>and {more} more</li>}
      </ul>
    </>
  );
}

export function ActivateApp({ app, onClose }: { app: App; onClose: () => void }): React.ReactNode {
  const update = useStatus(`${app.name} is active.`, onClose);
  return (
    <ConfirmDialog
      title={`Activate ${app.name}?`}
      action="Activate the app"
      isPending={update.isPending}
      error={update.error}
      onConfirm={() => update.mutate({ appId: app.id, status: AppStatus.ACTIVE })}
      onClose={onClose}
    >
      <p>It can be installed again. It has no access anywhere until somebody of a property installs it anew.</p>
    </ConfirmDialog>
  );
}

function useStatus(done: string, onClose: () => void) {
  const reread = useRereadApps();
  return useMutation(AppService.method.updateApp, {
    onSuccess: () => {
      reread();
      toast(done);
      onClose();
    },
  });
}
