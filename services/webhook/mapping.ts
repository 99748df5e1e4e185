/** Maps rows to messages. */
import { create } from "@bufbuild/protobuf";
import {
  AttemptSchema,
  DeliveryError,
  DeliverySchema,
  DeliveryStatus,
  DeliveryTrigger,
  DisabledReason,
  EndpointSchema,
  EndpointStatus,
  ReplayChoice,
  ReplaySchema,
  ReplayStatus,
  type Delivery,
  type Endpoint,
  type Replay,
} from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { encodeId } from "#shared/values/ids.ts";
import { parseDateTime, toTimestamp } from "#shared/values/time.ts";
import type { AttemptEntry } from "./domain/attempt-entry.ts";
import type { DeliveryRow, DeliveryStatusName, DeliveryTriggerName } from "./sql/delivery-reads.ts";
import type { DisabledReasonName, EndpointRow } from "./sql/endpoints.ts";
import type { ReplayRow } from "./sql/replays.ts";

const reasonOfName: Record<DisabledReasonName, DisabledReason> = {
  manual: DisabledReason.MANUAL,
  failing: DisabledReason.FAILING,
  gone: DisabledReason.GONE,
  owner_ended: DisabledReason.OWNER_ENDED,
};

/** An endpoint without its secrets and the values of its headers. */
export function toEndpoint(row: EndpointRow): Endpoint {
  const hasFilter = row.event_types.length > 0 || row.sources.length > 0;
  return create(EndpointSchema, {
    id: encodeId("hook", row.id),
    propertyId: encodeId("prop", row.property_id),
    url: row.url,
    description: row.description,
    types: row.types,
    filter: hasFilter ? { eventTypes: row.event_types, sources: row.sources } : undefined,
    headerNames: row.header_names,
    rateLimitPerSecond: row.rate_limit_per_second ?? undefined,
    status: row.status === "enabled" ? EndpointStatus.ENABLED : EndpointStatus.DISABLED,
    disabledReason: row.disabled_reason === null ? undefined : reasonOfName[row.disabled_reason],
    failingSince: toTimestamp(row.failing_since),
    lastSuccessAt: toTimestamp(row.last_success_at),
    revision: row.revision,
    createdBy: row.created_by,
    appId: row.app_id === null ? undefined : encodeId("app", row.app_id),
    previousSecretUntil: toTimestamp(row.previous_secret_until),
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  });
}

export const statusOfName: Record<DeliveryStatusName, DeliveryStatus> = {
  pending: DeliveryStatus.PENDING,
  delivered: DeliveryStatus.DELIVERED,
  failed: DeliveryStatus.FAILED,
  cancelled: DeliveryStatus.CANCELLED,
};

const triggerOfName: Record<DeliveryTriggerName, DeliveryTrigger> = {
  live: DeliveryTrigger.LIVE,
  replay: DeliveryTrigger.REPLAY,
  manual: DeliveryTrigger.MANUAL,
  test: DeliveryTrigger.TEST,
};

const errorOfName: Record<string, DeliveryError> = {
  timeout: DeliveryError.TIMEOUT,
  connection_refused: DeliveryError.CONNECTION_REFUSED,
  dns_error: DeliveryError.DNS_ERROR,
  tls_error: DeliveryError.TLS_ERROR,
  address_blocked: DeliveryError.ADDRESS_BLOCKED,
  http_status: DeliveryError.HTTP_STATUS,
  body_too_large: DeliveryError.BODY_TOO_LARGE,
};

/** A delivery, without its attempts and its message. */
export function toDelivery(row: DeliveryRow): Delivery {
  return create(DeliverySchema, {
    id: encodeId("dlv", row.id),
    propertyId: encodeId("prop", row.property_id),
    endpointId: encodeId("hook", row.endpoint_id),
    messageId: encodeId("whm", row.message_id),
    type: row.type,
    status: statusOfName[row.status],
    attempts: row.attempts,
    nextAttemptAt: toTimestamp(row.due_at),
    lastResponseStatus: row.response_status ?? undefined,
    lastError: errorOfName[row.error ?? ""],
    trigger: triggerOfName[row.trigger],
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    completedAt: toTimestamp(row.completed_at),
  });
}

/** A delivery with its attempts and its message. */
export function toWholeDelivery(row: DeliveryRow & { attempt_log: AttemptEntry[]; body: string | null }): Delivery {
  const delivery = toDelivery(row);
  delivery.attemptList = row.attempt_log.map((entry, index) =>
    create(AttemptSchema, {
      number: index + 1,
      startedAt: toTimestamp(parseDateTime(entry.at)),
      durationMs: entry.duration_ms,
      responseStatus: entry.status ?? undefined,
      error: errorOfName[entry.error ?? ""],
      responseExcerpt: entry.excerpt ?? "",
    }),
  );
  if (row.body !== null) delivery.payloadJson = row.body;
  return delivery;
}

const replayStatusOfName: Record<ReplayRow["status"], ReplayStatus> = {
  processing: ReplayStatus.PROCESSING,
  complete: ReplayStatus.COMPLETE,
  cancelled: ReplayStatus.CANCELLED,
};

export function toReplay(row: ReplayRow): Replay {
  return create(ReplaySchema, {
    id: encodeId("rpl", row.id),
    endpointId: encodeId("hook", row.endpoint_id),
    from: toTimestamp(row.starts_at),
    to: toTimestamp(row.ends_at),
    types: row.types,
    only: row.only_failed ? ReplayChoice.FAILED : ReplayChoice.ALL,
    status: replayStatusOfName[row.status],
    deliveries: BigInt(row.deliveries),
    createdAt: toTimestamp(row.created_at),
    completedAt: toTimestamp(row.completed_at),
  });
}
