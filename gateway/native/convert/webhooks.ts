/** Webhooks from JSON: who asks, and what of an endpoint or a list is meant. */
import { DeliveryStatus, EndpointStatus } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { scopesOfTypes } from "#shared/values/webhook-types.ts";
import type { Caller } from "../../callers.ts";
import { requireScope } from "../../plugins/authentication.ts";

/** Sees the endpoints whose types its scopes allow; an installation its own only. */
export function viewerOf({ kind, callerId, scopes }: Caller) {
  return { scopes: [...scopes], ...(kind === "installation" && { installationId: callerId }) };
}

/** @throws DaybookError `missing_scope` with the first scope that the caller lacks. */
export function requireTypes(caller: Caller, types: readonly string[]): void {
  for (const scope of scopesOfTypes(types)) requireScope(caller, scope);
}

interface Filter {
  event_types?: string[];
  sources?: string[];
}

/** A filter of two empty lists is none. */
export function toFilter(filter: Filter | null) {
  return { eventTypes: filter?.event_types ?? [], sources: filter?.sources ?? [] };
}

export function toEndpointStatus(status: string | undefined): EndpointStatus {
  if (status === undefined) return EndpointStatus.UNSPECIFIED;
  return status === "enabled" ? EndpointStatus.ENABLED : EndpointStatus.DISABLED;
}

const deliveryStatuses: Readonly<Record<string, DeliveryStatus>> = {
  pending: DeliveryStatus.PENDING,
  delivered: DeliveryStatus.DELIVERED,
  failed: DeliveryStatus.FAILED,
  cancelled: DeliveryStatus.CANCELLED,
};
export const deliveryStatusNames = Object.keys(deliveryStatuses);

export function toDeliveryStatus(status: string | undefined): DeliveryStatus {
  return deliveryStatuses[status ?? ""] ?? DeliveryStatus.UNSPECIFIED;
}

/** The RPCs name ids in full. */
export function toPathParam(param: string): string {
  return param === "endpoint_id" || param === "delivery_id" ? "id" : param;
}
