/** Privacy: what persons asked for, by when it is due, and whom erasures keep out. */
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { outwardCalls } from "../../outward-calls.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { Segments } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { PageHeader, Toolbar } from "../../components/page.tsx";
import { useMay } from "../../data/viewer.ts";
import "../../styles/outward.css";
import "../../styles/team.css";
import type { Kind } from "./create-request.tsx";
import { type RequestFilter, Requests, toQuery } from "./requests.tsx";
import { Suppressions } from "./suppressions.tsx";

const CreateRequest = lazy(() => import("./create-request.tsx"));

const route = getRouteApi("/$property/privacy");

export function PrivacyScreen(): React.ReactNode {
  const mayErase = useMay("privacy:delete");
  const mayExport = useMay("privacy:export");
  const { show, request, create, of, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const [openedAt] = useState(() => new Date());
  const areSuppressions = show === "suppressions";
  const mayCreate = create === "erasure" ? mayErase : mayExport;
  const set = (
    next: RequestFilter & { request?: string | undefined; create?: Kind | undefined; of?: string | undefined },
  ): void => void navigate({ search: (before) => ({ ...before, ...next }) });
  return (
    <div className="screen">
      <PageHeader
        title="Privacy"
        actions={
          <>
            <EqualsApiCall
              call={
                areSuppressions
                  ? outwardCalls.listSuppressions()
                  : outwardCalls.listPrivacyRequests(toQuery(filter, openedAt))
              }
            />
            {(mayErase || mayExport) && (
              <button
                type="button"
                className="button primary"
                onClick={() => set({ create: mayExport ? "access" : "erasure" })}
              >
                <Icon name="plus" />
                Create a request
              </button>
            )}
          </>
        }
      >
        What persons asked for: to know what is kept of them, or to be forgotten. Each is due within 30 days.
      </PageHeader>
      <Toolbar label="What">
        <Segments
          label="Show"
          value={show ?? "requests"}
          options={[
            { value: "requests", title: "Requests" },
            { value: "suppressions", title: "Suppressions" },
          ]}
          onChange={(value) => void navigate({ search: value === "suppressions" ? { show: value } : {} })}
        />
      </Toolbar>
      {areSuppressions ? (
        <Suppressions />
      ) : (
        <Requests
          filter={filter}
          now={openedAt}
          openId={request}
          onFilter={set}
          onOpen={(id) => set({ request: id })}
        />
      )}
      {create !== undefined && mayCreate && (
        <Suspense>
          <CreateRequest
            kind={create}
            profileId={of}
            onKind={(kind) => set({ create: kind })}
            onClose={(id) => set({ create: undefined, of: undefined, ...(id !== undefined && { request: id }) })}
          />
        </Suspense>
      )}
    </div>
  );
}
