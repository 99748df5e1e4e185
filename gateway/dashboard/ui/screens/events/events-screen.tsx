/** Events: what customers did, as a list or live. */
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { EqualsApiCall } from "../../components/api-call.tsx";
import { PageHeader } from "../../components/page.tsx";
import { WithPanel } from "../../components/side-panel.tsx";
import { customRange, type Range, rangeAt } from "../../data/range.ts";
import { useProperty } from "../../data/viewer.ts";
import { EventList } from "./event-list.tsx";
import { EventPanel } from "./event-panel.tsx";
import { type Filter, listCall, listRequest, liveUrl } from "./filter.ts";
import { Filters } from "./filters.tsx";
import type { LiveRow } from "./live-feed.ts";
import { LiveView } from "./live-view.tsx";

const route = getRouteApi("/$property/events");

export function EventsScreen(): React.ReactNode {
  const { id: propertyId } = useProperty();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { live, event: openId, range: rangeGiven, ...filter } = search;
  const isLive = live === "on";
  const [reckoned, setReckoned] = useState(() => reckon(rangeGiven));
  if (reckoned.given !== rangeGiven) setReckoned(reckon(rangeGiven));
  const { range } = reckoned;
  const url = liveUrl(propertyId, filter);
  const set = (next: { [Name in keyof typeof search]: (typeof search)[Name] | undefined }): void =>
    void navigate({ search: (before) => ({ ...before, ...next }) });
  const openLive = (row: LiveRow): void => {
    if (row.is === "event") set({ event: row.id });
    else set({ live: undefined, by: "received", range: rangeOf(row) });
  };

  return (
    <div className="screen">
      <PageHeader
        title="Events"
        actions={
          <>
            <EqualsApiCall call={listCall(filter, range)} />
            <button
              type="button"
              role="switch"
              aria-checked={isLive}
              className="button switch"
              onClick={() => set({ live: isLive ? undefined : "on" })}
            >
              <span className="switch-mark" aria-hidden="true" />
              Live
            </button>
          </>
        }
      >
        What customers did, one row each.
      </PageHeader>
      <Filters filter={{ ...filter, range: rangeGiven }} isLive={isLive} onChange={set} />
      <WithPanel
        panel={
          openId !== undefined && <EventPanel key={openId} id={openId} onClose={() => set({ event: undefined })} />
        }
      >
        {isLive ? (
          <LiveView key={url} url={url} openId={openId} onOpen={openLive} />
        ) : (
          <EventList
            request={listRequest(propertyId, filter, range)}
            by={filter.by ?? "occurred"}
            isFiltered={isFiltered(filter) || range !== undefined}
            openId={openId}
            onOpen={({ id }) => set({ event: id })}
          />
        )}
      </WithPanel>
    </div>
  );
}

/** A preset such as 24h is reckoned once, so that the pages of a list belong together. */
function reckon(given: string | undefined): { given: string | undefined; range: Range | undefined } {
  return { given, range: given === undefined ? undefined : rangeAt(given, new Date()) };
}

const isFiltered = ({ type, profile, source }: Filter): boolean => [type, profile, source].some((value) => value);

/** When the events of a gap were received, to whole milliseconds. */
function rangeOf({ from, to }: LiveRow & { is: "gap" }): string | undefined {
  const end = to === undefined ? new Date() : new Date(Date.parse(to) + 1);
  return customRange({ from: from === undefined ? new Date(end.getTime() - 60_000) : new Date(from), to: end });
}
