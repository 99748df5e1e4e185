/** Which rejected writes: in the URL, for the service, and for the API. */
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type RejectedWriteGroup, RejectionSeverity } from "#proto/daybook/event/v1/rejected_pb.ts";
import { rangeAt } from "../../data/range.ts";

export interface Filter {
  range?: string | undefined;
  severity?: "error" | "warning" | undefined;
  operation?: string | undefined;
  code?: string | undefined;
  param?: string | undefined;
  type?: string | undefined;
  key?: string | undefined;
  /** Not of groups. */
  request?: string | undefined;
  /** Not of groups. */
  reference?: string | undefined;
}

export const defaultRange = "7d";

/** What a filter chooses beside time and severity, with the words for it. */
export const choices = {
  operation: "Operation",
  code: "Code",
  param: "Field",
  type: "Event type",
  key: "Key",
  request: "Request",
  reference: "Reference",
} as const;

const severities = { error: RejectionSeverity.ERROR, warning: RejectionSeverity.WARNING } as const;

/** As the service takes it. */
export function toFilter(filter: Filter, now: Date) {
  const { severity, operation, code, param, type, key, request, reference } = filter;
  const { from, to } = rangeAt(filter.range ?? defaultRange, now);
  return {
    // A preset has a beginning only: what is refused meanwhile belongs to it.
    rejectedAt: { gte: timestampFromDate(from), ...(filter.range?.includes("~") && { lt: timestampFromDate(to) }) },
    ...(severity !== undefined && { severity: severities[severity] }),
    ...(operation !== undefined && { operation }),
    ...(code !== undefined && { code }),
    ...(param !== undefined && { param }),
    ...(type !== undefined && { eventType: type }),
    ...(key !== undefined && { keyId: key }),
    ...(request !== undefined && { requestId: request }),
    ...(reference !== undefined && { clientReference: reference }),
  };
}

/** As the API has it. */
export function toQuery(filter: Filter, now: Date): Record<string, string | undefined> {
  const { from, to } = rangeAt(filter.range ?? defaultRange, now);
  return {
    "filter[operation]": filter.operation,
    "filter[code]": filter.code,
    "filter[param]": filter.param,
    "filter[event_type]": filter.type,
    "filter[key_id]": filter.key,
    "filter[request_id]": filter.request,
    "filter[client_reference]": filter.reference,
    "filter[severity]": filter.severity,
    "filter[rejected_at][gte]": from.toISOString(),
    "filter[rejected_at][lt]": filter.range?.includes("~") ? to.toISOString() : undefined,
  };
}

/** The filter that leaves one group. */
export function filterOf({ operation, code, param, eventType, keyId }: RejectedWriteGroup): Filter {
  return { operation, code, param, type: eventType, key: keyId === "" ? undefined : keyId };
}

/** Names a group in the URL. */
export function keyOfGroup(group: RejectedWriteGroup): string {
  return JSON.stringify(Object.values(filterOf(group)).map((value: unknown) => value ?? null));
}
