/** Writes that were refused: entries, one with what was sent, and exact counts. */
import { create } from "@bufbuild/protobuf";
import {
  RejectedWriteFilterSchema,
  RejectionSeverity,
  type RejectedWriteFilter,
} from "#proto/daybook/event/v1/rejected_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { rejectedGroupFields, rejectedWriteFields } from "../convert/rejected-writes.ts";
import { answerData } from "../envelope.ts";
import { exampleIds } from "../examples.ts";
import { operation, route } from "../operation.ts";
import { openPage } from "../paging.ts";
import type { Query } from "../query.ts";
import { RejectedWrite, RejectedWriteSummary } from "../rejected-write-schemas.ts";

const groupsMax = 100;
const severities = { error: RejectionSeverity.ERROR, warning: RejectionSeverity.WARNING } as const;

const groupFilters = {
  operation: "Of this operation, such as events.create",
  code: "With this code",
  param: "With this field at fault; indexes count as *",
  event_type: "Of this type of event",
  key_id: "Of this key or installation",
  severity: { description: "Of this severity", oneOf: Object.keys(severities) },
};
const ranges = { rejected_at: "When it was refused" };

const example = {
  id: exampleIds.rejectedWrite,
  object: "rejected_write",
  rejected_at: "2026-11-02T09:30:00.000000Z",
  operation: "events.batch",
  surface: "native",
  severity: "error",
  status: 400,
  error: {
    type: "invalid_request",
    code: "parameter_missing",
    message: "`properties` is required: an object such as {}.",
    param: "properties",
  },
  errors: [],
  request_id: exampleIds.request,
  job_id: null,
  item_index: 3,
  client_reference: "row 4",
  event_type: "order.completed",
  key_id: exampleIds.key,
  key_name: "shop",
  installation_id: null,
  docs_url: "https://daybook.example.com/docs/errors#parameter_missing",
  payload_state: "kept",
};

const list = operation("accounts:read", {
  id: "listRejectedWrites",
  tag: "Rejected writes",
  summary: "List writes that were refused, newest first",
  description:
    "Whole requests, items of batches and items of jobs. They are there some seconds after the answer, and for 30 " +
    "days. 20 are kept of those with the same reason in a minute, and 10,000 of a day; the summary counts all.",
  query: {
    filters: {
      ...groupFilters,
      request_id: "Of this request",
      client_reference: "With this client_reference",
    },
    ranges,
    paged: true,
  },
  data: RejectedWrite,
  list: true,
  success: { 200: "A page of rejected writes" },
  examples: { query: { "filter[code]": "parameter_missing", "page[limit]": "10" }, data: [example] },
});

const summary = operation("accounts:read", {
  id: "summarizeRejectedWrites",
  tag: "Rejected writes",
  summary: "Count writes that were refused, by what was wrong",
  description:
    "Exact, also for writes of which no entry is kept, and for 90 days. A range counts whole minutes. The 100 groups " +
    "with the most come first. Of more than 20,000 groups of a property and day the rest are counted without `param` " +
    "and `event_type`.",
  query: { filters: groupFilters, ranges },
  data: RejectedWriteSummary,
  success: { 200: "The counts" },
  examples: {
    query: { "filter[severity]": "error" },
    data: {
      object: "rejected_write_summary",
      count: 12,
      has_more: false,
      groups: [
        {
          operation: example.operation,
          code: example.error.code,
          param: example.error.param,
          event_type: example.event_type,
          key_id: example.key_id,
          key_name: example.key_name,
          severity: example.severity,
          count: 12,
          first_seen_at: example.rejected_at,
          last_seen_at: example.rejected_at,
          sample_ids: [example.id],
          docs_url: example.docs_url,
        },
      ],
    },
  },
});

const read = operation("accounts:read", {
  id: "getRejectedWrite",
  tag: "Rejected writes",
  summary: "Read a write that was refused, with what was sent",
  description:
    "`payload` comes with the scope `identifiers:read_value`, and is null unless `payload_state` is kept or truncated: " +
    "bodies are kept for 7 days.",
  data: RejectedWrite,
  success: { 200: "The rejected write" },
  errors: ["invalid_id", "resource_not_found"],
  examples: { data: { ...example, payload: '{"type":"order.completed","client_reference":"row 4"}' } },
});

export const rejectedWriteRoutes = [
  route("GET", "/rejected-writes", list, async (exchange) => {
    const { query, propertyId, services, request } = exchange;
    const page = openPage(exchange, "rejected-writes");
    const { writes, hasMore } = await services.rejectedWrites.listRejectedWrites({
      propertyId,
      filter: toFilter(query),
      limit: query.limit,
      afterRejectedWriteId: page.after,
    });
    const data = writes.map((write) => rejectedWriteFields(write, request.publicOrigin));
    return answerData(exchange, JSON.stringify(data), page.meta(hasMore, writes.at(-1)?.id));
  }),

  route("GET", "/rejected-writes/summary", summary, async (exchange) => {
    const { query, propertyId, services, request } = exchange;
    const found = await services.rejectedWrites.summarizeRejectedWrites({
      propertyId,
      filter: toFilter(query),
      limit: groupsMax,
    });
    const data = {
      object: "rejected_write_summary",
      count: Number(found.count),
      has_more: found.hasMore,
      groups: found.groups.map((group) => rejectedGroupFields(group, request.publicOrigin)),
    };
    return answerData(exchange, JSON.stringify(data));
  }),

  route("GET", "/rejected-writes/:id", read, async (exchange) => {
    const { ids, propertyId, services, request, showsValues } = exchange;
    const { write } = await services.rejectedWrites.getRejectedWrite(
      { propertyId, rejectedWriteId: ids.id },
      () => "id",
    );
    if (!write) throw new DaybookError("resource_not_found", "There is no such rejected write.", { param: "id" });
    const fields = rejectedWriteFields(write, request.publicOrigin);
    const data = showsValues ? { ...fields, payload: write.payload ?? null } : fields;
    return answerData(exchange, JSON.stringify(data));
  }),
];

function toFilter({ filters, ranges: times }: Query): RejectedWriteFilter {
  const severity = filters.get("severity") as keyof typeof severities | undefined;
  return create(RejectedWriteFilterSchema, {
    operation: filters.get("operation"),
    code: filters.get("code"),
    param: filters.get("param"),
    eventType: filters.get("event_type"),
    keyId: filters.get("key_id"),
    requestId: filters.get("request_id"),
    clientReference: filters.get("client_reference"),
    severity: severity === undefined ? undefined : severities[severity],
    rejectedAt: times.get("rejected_at"),
  });
}
