/** Which deliveries: in the URL, for the service, and for the API. */
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { DeliveryStatus } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { rangeAt } from "../../data/range.ts";

export const pageSize = 50;

export const statuses = {
  pending: DeliveryStatus.PENDING,
  delivered: DeliveryStatus.DELIVERED,
  failed: DeliveryStatus.FAILED,
  cancelled: DeliveryStatus.CANCELLED,
} as const;

export interface DeliveryFilter {
  endpoint?: string | undefined;
  status?: keyof typeof statuses | undefined;
  type?: string | undefined;
  range?: string | undefined;
}

/** A preset has a beginning only: what is made meanwhile belongs to it. */
export function toRange(given: string, now: Date) {
  const { from, to } = rangeAt(given, now);
  return { gte: timestampFromDate(from), ...(given.includes("~") && { lt: timestampFromDate(to) }) };
}

/** As the API has the filter. */
export function toQuery({ endpoint, status, type, range }: DeliveryFilter, now: Date) {
  const bounds = range === undefined ? undefined : rangeAt(range, now);
  return {
    "filter[endpoint_id]": endpoint,
    "filter[status]": status,
    "filter[type]": type,
    "filter[created_at][gte]": bounds?.from.toISOString(),
    "filter[created_at][lt]": range?.includes("~") ? bounds?.to.toISOString() : undefined,
    "page[limit]": String(pageSize),
  };
}
