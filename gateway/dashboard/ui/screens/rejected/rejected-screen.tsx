/** Rejected writes: what programs sent and could not be recorded, and why. */
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { outwardCalls } from "../../outward-calls.ts";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { Segments } from "../../components/field.tsx";
import { PageHeader, Toolbar } from "../../components/page.tsx";
import "../../styles/outward.css";
import type { Filter } from "./filter.ts";
import { toQuery } from "./filter.ts";
import { Filters } from "./filters.tsx";
import { Groups } from "./groups.tsx";
import { Keeping } from "./keeping.tsx";
import { Writes } from "./writes.tsx";

const route = getRouteApi("/$property/rejected");

export function RejectedScreen(): React.ReactNode {
  const { show, group, write, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const [openedAt] = useState(() => new Date());
  const areWrites = show === "writes";
  const { request: _request, reference: _reference, ...ofGroups } = filter;
  const set = (next: Filter & { group?: string | undefined; write?: string | undefined }): void =>
    void navigate({ search: (before) => ({ ...before, ...next }) });
  return (
    <div className="screen">
      <PageHeader
        title="Rejected writes"
        actions={
          <EqualsApiCall
            call={
              areWrites
                ? outwardCalls.listRejectedWrites(toQuery(filter, openedAt))
                : outwardCalls.summarizeRejectedWrites(toQuery(ofGroups, openedAt))
            }
          />
        }
      >
        What programs sent and could not be recorded: why, which field, and by which key.
      </PageHeader>
      <Toolbar label="What">
        <Segments
          label="Show"
          value={show ?? "groups"}
          options={[
            { value: "groups", title: "By fault" },
            { value: "writes", title: "One by one" },
          ]}
          onChange={(value) =>
            void navigate({
              search: ({ show: _show, group: _group, write: _write, request: _r, reference: _f, ...kept }) => ({
                ...kept,
                ...(value === "writes" && { show: value }),
              }),
            })
          }
        />
      </Toolbar>
      <Filters filter={areWrites ? filter : ofGroups} areWrites={areWrites} onChange={set} />
      {areWrites ? (
        <Writes filter={filter} now={openedAt} openId={write} onOpen={(id) => set({ write: id })} />
      ) : (
        <Groups filter={filter} now={openedAt} openKey={group} onOpen={(key) => set({ group: key })} />
      )}
      <Keeping />
    </div>
  );
}
