/** Apps: programs of partners that may use this property; and for who manages them all, every app. */
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { apiCalls } from "../../api-calls.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { SearchField, Segments } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { PageHeader, Toolbar } from "../../components/page.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { useMayEverywhere } from "../../data/viewer.ts";
import "../../styles/team.css";
import { Installed, type Show } from "./installed.tsx";
import "../../styles/apps.css";

const Catalogue = lazy(() => import("./catalogue.tsx"));
const CreateApp = lazy(() => import("./create-app.tsx"));

const route = getRouteApi("/$property/apps");

interface State {
  show?: Show;
  find?: string;
  installation?: string | undefined;
  app?: string | undefined;
  create?: "yes" | undefined;
}

export function AppsScreen(): React.ReactNode {
  const mayManageAll = useMayEverywhere("apps:manage");
  const { in: where, show = "active", find = "", installation, app, create } = route.useSearch();
  const navigate = route.useNavigate();
  const isAll = where === "all" && mayManageAll;
  const set = (next: State): void =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: "find" in next });

  return (
    <div className="screen">
      <PageHeader
        title="Apps"
        actions={
          isAll ? (
            <button type="button" className="button primary" onClick={() => set({ create: "yes" })}>
              <Icon name="plus" />
              Create an app
            </button>
          ) : (
            <EqualsApiCall call={[apiCalls.listInstallations(), apiCalls.listApps()]} />
          )
        }
      >
        {isAll
          ? "Every app that may ask for access. Each property decides for itself whether it is installed there."
          : "Programs of partners that may use this property: somebody of it has consented to each."}
      </PageHeader>
      <Toolbar label="Filter">
        {mayManageAll && (
          <Segments
            label="Which"
            value={isAll ? "all" : "here"}
            options={[
              { value: "here", title: "Installed here" },
              { value: "all", title: "All apps" },
            ]}
            onChange={(value) => void navigate({ search: value === "all" ? { in: "all" } : {} })}
          />
        )}
        <SearchField
          label="Find apps"
          placeholder="Name or id"
          value={find}
          onChange={(value) => set({ find: value })}
        />
        {!isAll && (
          <Segments
            label="State"
            value={show}
            options={[
              { value: "active", title: "Active" },
              { value: "ended", title: "Ended" },
              { value: "all", title: "All" },
            ]}
            onChange={(value) => set({ show: value })}
          />
        )}
      </Toolbar>
      {isAll ? (
        <Suspense fallback={<Skeleton lines={8} />}>
          <Catalogue find={find} openId={app} onOpen={(id) => set({ app: id })} />
        </Suspense>
      ) : (
        <Installed show={show} find={find} openId={installation} onOpen={(id) => set({ installation: id })} />
      )}
      {isAll && create === "yes" && (
        <Suspense>
          <CreateApp onClose={(id) => set({ create: undefined, ...(id !== undefined && { app: id }) })} />
        </Suspense>
      )}
    </div>
  );
}
