/** The filter of Events, as the URL has it, and what it means to a list, to Live, and to the API. */
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { EventSort } from "#proto/daybook/event/v1/event_pb.ts";
import { apiCalls, type ApiCall } from "../../api-calls.ts";
import type { Range } from "../../data/range.ts";

/** Search parameters. */
export interface Filter {
  type?: string;
  profile?: string;
  source?: string;
  /** Events that the platform recorded itself. */
  system?: "show";
  /** Which time the list is in order of, and the range is of. Absent: when events happened. */
  by?: "received";
  order?: "oldest";
}

export const pageSize = 50;

const showsSystem = ({ system, source }: Filter): boolean => system === "show" || source === "system";

export function listRequest(propertyId: string, filter: Filter, range: Range | undefined) {
  const { type, profile, source, by, order } = filter;
  const within = range && { gte: timestampFromDate(range.from), lt: timestampFromDate(range.to) };
  return {
    propertyId,
    ...(type !== undefined && { type }),
    ...(profile !== undefined && { profileId: profile }),
    ...(source !== undefined && { source }),
    ...(within && (by === "received" ? { receivedAt: within } : { occurredAt: within })),
    sort: by === "received" ? EventSort.RECEIVED_AT : EventSort.OCCURRED_AT,
    ascending: order === "oldest",
    limit: pageSize,
    withoutSystem: !showsSystem(filter),
  };
}

/** Tabs with the same address share a stream. */
export function liveUrl(propertyId: string, filter: Filter): string {
  const { type = "", profile = "", source = "" } = filter;
  const given = Object.entries({ type, profile_id: profile, source }).filter(([, value]) => value !== "");
  const query = new URLSearchParams([...given, ["with_system", String(showsSystem(filter))]]);
  return `/dashboard/${propertyId}/live?${query.toString()}`;
}

export function listCall({ type, profile, source, by, order }: Filter, range: Range | undefined): ApiCall {
  const field = by === "received" ? "received_at" : "occurred_at";
  return apiCalls.listEvents({
    "filter[type]": type,
    "filter[profile_id]": profile,
    "filter[source]": source,
    [`filter[${field}][gte]`]: range?.from.toISOString(),
    [`filter[${field}][lt]`]: range?.to.toISOString(),
    sort: order === "oldest" ? field : `-${field}`,
    "page[limit]": String(pageSize),
  });
}
