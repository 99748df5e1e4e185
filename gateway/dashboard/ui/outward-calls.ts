/**
 * As api-calls.ts, for Webhooks, Rejected writes and Privacy: a file of its own, so that other screens load none of it.
 */
import type { ApiCall } from "./api-calls.ts";

export const outwardCalls = {
  listWebhookEndpoints: (): ApiCall => ({
    method: "GET",
    path: "/v1/webhook-endpoints",
    query: { "page[limit]": "100" },
  }),
  readWebhookEndpoint: (id: string): ApiCall => ({ method: "GET", path: `/v1/webhook-endpoints/${id}` }),
  listWebhookDeliveries: (query: ApiCall["query"] = {}): ApiCall => ({
    method: "GET",
    path: "/v1/webhook-deliveries",
    query,
  }),
  readWebhookDelivery: (id: string): ApiCall => ({
    method: "GET",
    path: `/v1/webhook-deliveries/${id}`,
    query: { expand: "attempts,payload" },
  }),
  summarizeRejectedWrites: (query: ApiCall["query"] = {}): ApiCall => ({
    method: "GET",
    path: "/v1/rejected-writes/summary",
    query,
  }),
  listRejectedWrites: (query: ApiCall["query"] = {}): ApiCall => ({
    method: "GET",
    path: "/v1/rejected-writes",
    query,
  }),
  readRejectedWrite: (id: string): ApiCall => ({ method: "GET", path: `/v1/rejected-writes/${id}` }),
  listPrivacyRequests: (query: ApiCall["query"] = {}): ApiCall => ({
    method: "GET",
    path: "/v1/privacy-requests",
    query,
  }),
  readPrivacyRequest: (id: string): ApiCall => ({ method: "GET", path: `/v1/privacy-requests/${id}` }),
  listSuppressions: (): ApiCall => ({ method: "GET", path: "/v1/suppressions", query: { "page[limit]": "100" } }),
};

/** Calls about a thing that must be there: the tests of their screens run them. */
type AboutOne = "readWebhookEndpoint" | "readWebhookDelivery" | "readRejectedWrite" | "readPrivacyRequest";

/** One call of each other kind, which the test runs. */
export const outwardSamples: Record<Exclude<keyof typeof outwardCalls, AboutOne>, ApiCall> = {
  listWebhookEndpoints: outwardCalls.listWebhookEndpoints(),
  listWebhookDeliveries: outwardCalls.listWebhookDeliveries({
    "filter[endpoint_id]": "hook_01h455vb4pex5vsknk084sn02q",
    "filter[status]": "failed",
    "filter[type]": "event.recorded",
    "filter[created_at][gte]": "2026-11-01T00:00:00.000Z",
    "page[limit]": "50",
  }),
  summarizeRejectedWrites: outwardCalls.summarizeRejectedWrites({
    "filter[severity]": "error",
    "filter[rejected_at][gte]": "2026-11-01T00:00:00.000Z",
  }),
  listRejectedWrites: outwardCalls.listRejectedWrites({
    "filter[operation]": "events.create",
    "filter[code]": "parameter_missing",
    "filter[param]": "type",
    "filter[event_type]": "order.completed",
    "filter[severity]": "error",
    "filter[rejected_at][gte]": "2026-11-01T00:00:00.000Z",
    "page[limit]": "50",
  }),
  listPrivacyRequests: outwardCalls.listPrivacyRequests({
    "filter[type]": "erasure",
    "filter[status]": "pending",
    "page[limit]": "50",
  }),
  listSuppressions: outwardCalls.listSuppressions(),
};
