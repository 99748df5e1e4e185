/** Example answers for the OpenAPI document: a resource of each kind and an error of each status. */
import type Type from "typebox";
import { DaybookError, type ErrorCode } from "#shared/values/errors.ts";
import { exampleIds } from "../docs/example-ids.ts";
import { renderErrors } from "./errors.ts";
import * as resources from "./resources.ts";

const base = "https://daybook.example.com/api";
const selfOf = (path: string) => ({ links: { self: base + path } });
const lists = { lists: { data: [] } };

const examples = new Map<Type.TSchema, object>([
  [
    resources.Event,
    {
      type: "event",
      id: exampleIds.event,
      attributes: {
        timestamp: 1_793_525_400,
        event_properties: { order_id: "1001" },
        datetime: "2026-11-01T09:30:00+00:00",
        uuid: "019f90e0-d4b3-3dcf-90e8-5a13b26ef1a0",
      },
      relationships: {
        profile: { data: { type: "profile", id: exampleIds.profile } },
        metric: { data: { type: "metric", id: exampleIds.metric } },
        attributions: { data: [] },
      },
      ...selfOf(`/events/${exampleIds.event}`),
    },
  ],
  [
    resources.Profile,
    {
      type: "profile",
      id: exampleIds.profile,
      attributes: {
        email: "ada@example.com",
        phone_number: null,
        external_id: "customer-7",
        first_name: "Ada",
        last_name: "Lovelace",
        created: "2026-11-01T09:30:00+00:00",
        updated: "2026-11-01T09:30:00+00:00",
        last_event_date: "2026-11-01T09:30:00+00:00",
        location: { city: "Lisbon", country: "PT" },
        properties: { plan: "gold" },
      },
      relationships: { ...lists, segments: { data: [] } },
      ...selfOf(`/profiles/${exampleIds.profile}`),
    },
  ],
  [resources.MergedProfile, { type: "profile", id: exampleIds.profile, ...selfOf(`/profiles/${exampleIds.profile}`) }],
  [
    resources.Metric,
    {
      type: "metric",
      id: exampleIds.metric,
      attributes: {
        name: "Placed Order",
        created: "2026-11-01T09:30:00+00:00",
        updated: "2026-11-01T09:30:00+00:00",
        integration: { object: "integration", id: "api", key: "api", name: "API", category: "API" },
      },
      relationships: { "flow-triggers": { data: [] } },
      ...selfOf(`/metrics/${exampleIds.metric}`),
    },
  ],
  [
    resources.MetricAggregate,
    {
      type: "metric-aggregate",
      id: exampleIds.metric,
      attributes: {
        dates: ["2026-11-01T00:00:00+00:00", "2026-11-02T00:00:00+00:00"],
        data: [{ dimensions: [], measurements: { count: [3, 1], sum_value: [149.7, 12], unique: [2, 1] } }],
      },
      ...selfOf("/metric-aggregates"),
    },
  ],
  [
    resources.ImportJob,
    {
      type: "profile-bulk-import-job",
      id: exampleIds.job,
      attributes: {
        status: "complete",
        created_at: "2026-11-01T09:30:00+00:00",
        total_count: 2,
        completed_count: 2,
        failed_count: 0,
        completed_at: "2026-11-01T09:30:01+00:00",
        expires_at: "2026-11-08T09:30:00+00:00",
        started_at: "2026-11-01T09:30:00+00:00",
      },
      relationships: lists,
      ...selfOf(`/profile-bulk-import-jobs/${exampleIds.job}`),
    },
  ],
  [
    resources.ImportError,
    {
      type: "import-error",
      id: `${exampleIds.job}-1`,
      attributes: {
        code: "invalid",
        title: "Invalid input.",
        detail: "Invalid email address",
        source: { pointer: "/data/attributes/profiles/data/1/attributes/email" },
        original_payload: { email: "nobody" },
      },
    },
  ],
  [
    resources.EventBulkCreateJobAccepted,
    { type: "event-bulk-create-job", id: exampleIds.job, attributes: { total_count: 2 } },
  ],
  [
    resources.Account,
    {
      type: "account",
      id: exampleIds.property,
      attributes: {
        test_account: false,
        contact_information: { organization_name: "Tea House" },
        industry: null,
        timezone: "Europe/Lisbon",
        preferred_currency: "EUR",
        public_api_key: exampleIds.property,
        locale: "en-US",
      },
      ...selfOf(`/accounts/${exampleIds.property}`),
    },
  ],
  [resources.Reference, { type: "profile", id: exampleIds.profile }],
]);

export function exampleOf(schema: Type.TSchema): object {
  const example = examples.get(schema);
  if (!example) throw new Error("a resource of the compatibility surface has no example");
  return example;
}

const errors: Readonly<Record<number, [code: ErrorCode, message: string, param?: string]>> = {
  400: ["parameter_invalid", "Invalid email address", "/data/attributes/email"],
  401: ["invalid_api_key", "Missing or invalid private key or access token."],
  403: ["missing_scope", "The API key or access token lacks the scope profiles:write."],
  404: ["resource_not_found", "There is no such profile.", "id"],
  409: ["idempotency_key_reused", "This Idempotency-Key was used for another request.", "Idempotency-Key"],
  413: ["request_too_large", "The body is larger than 5 MB."],
  415: ["unsupported_media_type", "The body is not JSON."],
  429: ["rate_limited", "The limit of 60000 requests a minute is reached."],
  500: ["internal_error", "Something went wrong on our side. Try again."],
  503: ["service_unavailable", "The service is not available for the moment. Try again."],
};

// The same in every process, so that all gateways serve the same document.
const errorId = "019f90e0-d4b3-7dcf-90e8-5a13b26ef1a0";

/** An example error, rendered like a real one. */
export function exampleErrors(status: number, method: string): object {
  const [code, message, param] = errors[status] ?? [];
  if (!code || message === undefined) throw new Error(`there is no example of an error with status ${status}`);
  const error = new DaybookError(code, message, param === undefined ? {} : { param });
  const document = renderErrors(error, { method, is404: false });
  return { errors: document.errors.map((one) => ({ ...one, id: errorId })) };
}
