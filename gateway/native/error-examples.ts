/** An example of each error, for the OpenAPI document. The code that answers real errors renders them. */
import { DaybookError, errorCatalogue, type ErrorCode } from "#shared/values/errors.ts";
import { renderError } from "./errors.ts";
import { exampleIds } from "./examples.ts";
import { renderError as renderGuideError } from "./revisions/2026-05-01.ts";

interface Example {
  message: string;
  param?: string;
  retryAfterMs?: number;
}

const examples: Readonly<Record<ErrorCode, Example>> = {
  parameter_missing: { message: "`properties` is required: an object such as {}.", param: "properties" },
  parameter_invalid: {
    message: '`value` must be a decimal string such as "49.90"; got the number 49.9.',
    param: "value",
  },
  parameter_unknown: { message: "`event` is not a known field. Did you mean `type`?", param: "event" },
  parameter_conflict: {
    message: "`identifier` must not be sent together with `profile_id`. Send one of the two.",
    param: "identifier",
  },
  invalid_id: {
    message: '`profile_id` must be an id such as "prof_01h455vb4pex5vsknk084sn02q".',
    param: "profile_id",
  },
  invalid_cursor: {
    message: "`page[after]` is not a cursor of this list, or it is older than 7 days.",
    param: "page[after]",
  },
  invalid_json: { message: "The body must be JSON: a value is expected at line 1, column 9." },
  request_timeout: { message: "The request did not arrive in time. Send it again." },
  invalid_event_type: {
    message: "`type` must be 1 to 5 segments of lowercase letters and digits, such as order.completed.",
    param: "type",
  },
  invalid_revision: { message: "`Service-Version` must be a date from 2026-05-01 on.", param: "Service-Version" },
  reserved_event_type: { message: "`type` must not begin with sms or profile: these are reserved.", param: "type" },
  unsupported_filter: { message: "`filter[colour]` is not a filter of this list.", param: "filter[colour]" },
  unsupported_sort: { message: "`sort` must be occurred_at or received_at, each also with -.", param: "sort" },
  unsupported_expand: { message: "`expand` must be profile, metric, or both with a comma.", param: "expand" },
  unsupported_group_by: {
    message: "The path properties.items[].sku leads through the array items[].",
    param: "group_by.0",
  },
  too_many_items: { message: "`events` must have at most 1,000 items; got 1,001.", param: "events" },
  invalid_path: { message: "`path` leads through a string, which has no keys.", param: "attribute_operations.0.path" },
  not_an_array: {
    message: "`path` leads to a string; append_unique needs an array.",
    param: "attribute_operations.0.path",
  },
  url_not_allowed: { message: "`url` must begin with https://; got http://.", param: "url" },
  bad_request: { message: "The request is not valid HTTP." },
  request_too_large: { message: "The body is larger than 2 MB." },
  unsupported_media_type: { message: "The body must be sent as application/json.", param: "Content-Type" },
  method_not_allowed: { message: "The method PUT is not allowed here. Use one of GET, HEAD." },
  invalid_api_key: {
    message: "The API key or access token is missing or not valid. Send it as: Authorization: Bearer <key or token>",
  },
  sign_in_required: { message: "You are not signed in, or your session has ended. Sign in." },
  wrong_password: { message: "The email or the password is not right." },
  unknown_member: { message: "No member has this email. Ask an admin for an invitation." },
  sign_in_again: { message: "This needs your password again, because your last sign-in was a while ago." },
  missing_scope: { message: "The API key or access token lacks the scope events:write." },
  resource_not_found: { message: "There is no such event.", param: "id" },
  identity_conflict: { message: "The identifier belongs to another profile.", param: "identifiers.0" },
  metric_exists: { message: "A metric of this name exists.", param: "name" },
  idempotency_key_in_use: { message: "The first request with this Idempotency-Key is still being processed." },
  idempotency_key_reused: {
    message: "`Idempotency-Key` was used for another request. Send a new key with a new request.",
    param: "Idempotency-Key",
  },
  not_ready: { message: "The request is still being carried out. Ask again later.", retryAfterMs: 5_000 },
  download_expired: { message: "The download ended 7 days after it was made. Make a new request." },
  precondition_failed: { message: "The profile was changed since. Read it again.", param: "If-Match" },
  profile_redacted: { message: "The profile is redacted.", param: "profile_id" },
  invalid_state_transition: { message: "A profile cannot be merged into itself.", param: "source_profile_id" },
  last_identifier: { message: "The last identifier of a profile cannot be removed." },
  identifier_suppressed: {
    message: "`identifiers.0` was erased, and is kept out since.",
    param: "identifiers.0",
  },
  metric_read_only: { message: "A metric of the platform cannot be changed." },
  rate_limited: { message: "The limit of 60000 requests a minute is reached.", retryAfterMs: 12_000 },
  internal_error: { message: "Something went wrong on our side. Try again." },
  service_unavailable: { message: "The service is not available for the moment. Try again." },
};

const guideForm = "first-revision";

/** Examples as components of the document: by code, and by code in the form of the first revision. */
export const errorExamples: Readonly<Record<string, object>> = Object.fromEntries([
  ...codes().map((code) => [code, { summary: code, value: renderError(exampleOf(code), exampleIds.request) }]),
  ...codes().map((code) => [
    `${guideForm}-${code}`,
    { summary: `${code} in revision 2026-05-01`, value: renderGuideError(exampleOf(code), exampleIds.request) },
  ]),
]);

/** References to examples: all codes in the newest form, and the first code in the form of the first revision. */
export function errorExamplesOf(listedCodes: readonly ErrorCode[]): Record<string, { $ref: string }> {
  const names = [...listedCodes, ...listedCodes.slice(0, 1).map((code) => `${guideForm}-${code}`)];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/examples/${name}` }]));
}

function codes(): ErrorCode[] {
  return Object.keys(errorCatalogue) as ErrorCode[];
}

function exampleOf(code: ErrorCode): DaybookError {
  const { message, ...options } = examples[code];
  return new DaybookError(code, message, options);
}
