/** Examples of webhooks; the others are in examples.ts. */
import { endpointExample } from "#shared/values/webhook-data.ts";
import { webhookTypes } from "#shared/values/webhook-types.ts";
import { exampleIds } from "./examples.ts";

const time = "2026-11-02T09:30:00.000000Z";

export const exampleWebhookEndpoint = {
  ...endpointExample,
  id: exampleIds.webhookEndpoint,
  status: "enabled",
  disabled_reason: null,
  failing_since: null,
};

/** As it is shown when it is made, and when its secret is rotated. */
export const exampleNewWebhookEndpoint = {
  ...exampleWebhookEndpoint,
  secret: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
};

export const exampleWebhookDelivery = {
  id: exampleIds.webhookDelivery,
  object: "webhook_delivery",
  endpoint_id: exampleIds.webhookEndpoint,
  message_id: "whm_01jz8w3n5k7q9s1t2v4x6y8z0r",
  type: "event.recorded",
  status: "delivered",
  attempts: 1,
  next_attempt_at: null,
  last_response_status: 204,
  last_error: null,
  trigger: "live",
  created_at: time,
  updated_at: "2026-11-02T09:30:00.250000Z",
  completed_at: "2026-11-02T09:30:00.250000Z",
};

export const exampleAttempts = [
  { number: 1, started_at: time, duration_ms: 84, response_status: 204, error: null, response_excerpt: "" },
];

export const exampleWebhookReplay = {
  id: "rpl_01jz8w3n5k7q9s1t2v4x6y8z0s",
  object: "webhook_replay",
  endpoint_id: exampleIds.webhookEndpoint,
  from: "2026-11-01T00:00:00.000000Z",
  to: "2026-11-02T00:00:00.000000Z",
  types: [],
  only: "failed",
  status: "processing",
  deliveries: 0,
  created_at: time,
  completed_at: null,
};

export const exampleWebhookTypes = webhookTypes.map(({ name, ...rest }) => ({ name, object: "webhook_type", ...rest }));
