import type { PrivacyRequest as PrivacyRequestMessage } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { privacyRequestJson } from "#shared/wire/privacy.ts";
import { requireScope } from "../../plugins/authentication.ts";
import { operationOf } from "../../plugins/idempotency.ts";
import type { Exchange } from "../../surface/exchange.ts";
import { createReader } from "../../validation.ts";
import { scopeOfType, toPrivacyRequest, toPrivacyStatuses, toPrivacyType } from "../convert/privacy.ts";
import { answerData } from "../envelope.ts";
import { exampleIds } from "../examples.ts";
import { idFilter } from "../filters.ts";
import { operation, route } from "../operation.ts";
import { openPage } from "../paging.ts";
import { examplePendingErasure, examplePrivacyRequest } from "../privacy-examples.ts";
import { PrivacyRequest } from "../privacy-resources.ts";
import { PrivacyRequestCreate } from "../privacy-schemas.ts";

const pathErrors = ["invalid_id", "resource_not_found"] as const;
const common = { tag: "Privacy", data: PrivacyRequest } as const;

const list = operation("privacy:read", {
  ...common,
  id: "listPrivacyRequests",
  summary: "List privacy requests, newest first",
  description: "Identifiers are masked, whatever the scopes.",
  query: {
    filters: {
      type: { description: "Requests of this type", oneOf: ["access", "erasure"] },
      status: {
        description: "Requests with this status",
        oneOf: ["pending", "in_progress", "completed", "failed", "cancelled"],
      },
      profile_id: idFilter("prof", "Requests of this profile, whether it was named or found"),
      reference: "Requests with this reference",
    },
    ranges: { due_at: "When the request is due", created_at: "When it was taken" },
    paged: true,
  },
  list: true,
  success: { 200: "A page of requests" },
  errors: ["invalid_id"],
  examples: {
    query: {
      "filter[type]": "access",
      "filter[status]": "completed",
      "filter[profile_id]": exampleIds.profile,
      "filter[reference]": "ticket-4711",
      "filter[due_at][lt]": "2026-12-09T00:00:00Z",
      "page[limit]": "10",
    },
    data: [examplePrivacyRequest],
  },
});

const create = operation(["privacy:delete", "privacy:export"], {
  ...common,
  id: "createPrivacyRequest",
  summary: "Ask for access to what is kept of a person, or for its erasure",
  description:
    "An erasure needs `privacy:delete`, access needs `privacy:export`. The request is carried out behind the answer; " +
    "one whose `reference` the property has for this type already is answered with the first, and 200. An erasure " +
    "cannot be undone: `not_before` leaves time to cancel it.",
  body: createReader(PrivacyRequestCreate),
  success: { 200: "The request with this reference, which was there", 202: "The request taken" },
  errors: ["invalid_id", "parameter_conflict", "resource_not_found", "too_many_items"],
  examples: {
    bodies: {
      "Access to all that is kept": {
        type: "access",
        identifiers: [{ type: "email", value: "ada@example.com" }],
        regulation: "gdpr",
        reference: "ticket-4711",
      },
      "An erasure that keeps the person out": {
        type: "erasure",
        identifiers: [{ type: "email", value: "leaving@example.com" }],
        suppress: true,
      },
    },
    data: examplePrivacyRequest,
  },
});

const read = operation("privacy:read", {
  ...common,
  id: "getPrivacyRequest",
  summary: "Read a privacy request",
  success: { 200: "The request" },
  errors: pathErrors,
  examples: { data: examplePrivacyRequest },
});

const retry = operation("privacy:delete", {
  ...common,
  id: "retryPrivacyRequest",
  summary: "Carry out a failed privacy request again",
  description: "Only one that has failed; any other is refused with `invalid_state_transition`.",
  success: { 202: "The request, pending again" },
  errors: [...pathErrors, "invalid_state_transition"],
  examples: { id: exampleIds.failedPrivacyRequest, data: examplePendingErasure },
});

const cancel = operation(["privacy:delete", "privacy:export"], {
  ...common,
  id: "cancelPrivacyRequest",
  summary: "Cancel a privacy request that has not begun",
  description: "Only a pending one; any other is refused with `invalid_state_transition`.",
  success: { 200: "The request, cancelled" },
  errors: [...pathErrors, "invalid_state_transition"],
  examples: {
    id: exampleIds.pendingPrivacyRequest,
    data: { ...examplePendingErasure, status: "cancelled", completed_at: "2026-11-02T10:00:00.000000Z" },
  },
});

export const privacyRequestRoutes = [
  route("GET", "/privacy-requests", list, async (exchange) => {
    const { query, propertyId, services } = exchange;
    const { filters, ranges, limit } = query;
    const page = openPage(exchange, "privacy requests");
    const { requests, hasMore } = await services.privacy.listPrivacyRequests({
      propertyId,
      type: toPrivacyType(filters.get("type")),
      statuses: toPrivacyStatuses(filters.get("status")),
      profileId: filters.get("profile_id"),
      reference: filters.get("reference"),
      dueAt: ranges.get("due_at"),
      createdAt: ranges.get("created_at"),
      limit,
      afterPrivacyRequestId: page.after,
    });
    return answerData(
      exchange,
      `[${requests.map(privacyRequestJson).join(",")}]`,
      page.meta(hasMore, requests.at(-1)?.id),
    );
  }),

  route("POST", "/privacy-requests", create, async (exchange) => {
    const { caller, request, reply, propertyId, services, body } = exchange;
    requireScope(caller, scopeOfType(body.type));
    const wanted = Object.assign(toPrivacyRequest(propertyId, caller.callerId, body), operationOf(request));
    const made = await services.privacy.createPrivacyRequest(wanted);
    void reply.code(made.known ? 200 : 202);
    return answerRequest(exchange, made.request);
  }),

  route("GET", "/privacy-requests/:id", read, async (exchange) => {
    const { ids, propertyId, services } = exchange;
    const found = await services.privacy.getPrivacyRequest({ propertyId, privacyRequestId: ids.id }, toPathParam);
    return answerRequest(exchange, found.request);
  }),

  route("POST", "/privacy-requests/:id/retry", retry, async (exchange) => {
    const { ids, reply, propertyId, services } = exchange;
    const retried = await services.privacy.retryPrivacyRequest({ propertyId, privacyRequestId: ids.id }, toPathParam);
    void reply.code(202);
    return answerRequest(exchange, retried.request);
  }),

  route("POST", "/privacy-requests/:id/cancel", cancel, async (exchange) => {
    const { ids, propertyId, services } = exchange;
    const ended = await services.privacy.cancelPrivacyRequest({ propertyId, privacyRequestId: ids.id }, toPathParam);
    return answerRequest(exchange, ended.request);
  }),
];

function answerRequest(exchange: Exchange, request: PrivacyRequestMessage | undefined): string {
  if (!request) throw new Error("the privacy request was not returned");
  return answerData(exchange, privacyRequestJson(request));
}

function toPathParam(param: string): string {
  return param === "privacy_request_id" ? "id" : param;
}
