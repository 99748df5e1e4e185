/** Webhook endpoints, deliveries, replays and types as native JSON, and the data of small messages. */
import {
  DeliveryError,
  DeliveryStatus,
  DeliveryTrigger,
  DisabledReason,
  EndpointStatus,
  ReplayChoice,
  ReplayStatus,
  type Attempt,
  type Delivery,
  type Endpoint,
  type Replay,
} from "#proto/daybook/webhook/v1/webhook_pb.ts";
import type { RejectedWritesReported } from "#proto/daybook/event/v1/rejected_pb.ts";
import { RejectionSeverity } from "#proto/daybook/event/v1/rejected_pb.ts";
import type { WebhookType } from "../values/webhook-types.ts";
import { timeOrNull, timeText } from "./text.ts";

const reasonNames: Record<DisabledReason, string | null> = {
  [DisabledReason.UNSPECIFIED]: null,
  [DisabledReason.MANUAL]: "manual",
  [DisabledReason.FAILING]: "failing",
  [DisabledReason.GONE]: "gone",
  [DisabledReason.OWNER_ENDED]: "owner_ended",
};

/**
 * An endpoint.
 * @param secret only in the answer that makes it.
 */
export function endpointJson(endpoint: Endpoint, secret?: string): string {
  const { filter } = endpoint;
  return JSON.stringify({
    id: endpoint.id,
    object: "webhook_endpoint",
    url: endpoint.url,
    description: endpoint.description,
    types: endpoint.types,
    filter: filter ? { event_types: filter.eventTypes, sources: filter.sources } : null,
    headers: endpoint.headerNames,
    rate_limit_per_second: endpoint.rateLimitPerSecond ?? null,
    status: endpoint.status === EndpointStatus.ENABLED ? "enabled" : "disabled",
    disabled_reason: reasonNames[endpoint.disabledReason],
    failing_since: timeOrNull(endpoint.failingSince),
    last_success_at: timeOrNull(endpoint.lastSuccessAt),
    revision: endpoint.revision,
    created_by: endpoint.createdBy,
    app_id: endpoint.appId ?? null,
    previous_secret_until: timeOrNull(endpoint.previousSecretUntil),
    ...(secret === undefined ? {} : { secret }),
    created_at: timeText(endpoint.createdAt),
    updated_at: timeText(endpoint.updatedAt),
  });
}

const statusNames: Record<DeliveryStatus, string | null> = {
  [DeliveryStatus.UNSPECIFIED]: null,
  [DeliveryStatus.PENDING]: "pending",
  [DeliveryStatus.DELIVERED]: "delivered",
  [DeliveryStatus.FAILED]: "failed",
  [DeliveryStatus.CANCELLED]: "cancelled",
};

const triggerNames: Record<DeliveryTrigger, string | null> = {
  [DeliveryTrigger.UNSPECIFIED]: null,
  [DeliveryTrigger.LIVE]: "live",
  [DeliveryTrigger.REPLAY]: "replay",
  [DeliveryTrigger.MANUAL]: "manual",
  [DeliveryTrigger.TEST]: "test",
};

const errorNames: Record<DeliveryError, string | null> = {
  [DeliveryError.UNSPECIFIED]: null,
  [DeliveryError.TIMEOUT]: "timeout",
  [DeliveryError.CONNECTION_REFUSED]: "connection_refused",
  [DeliveryError.DNS_ERROR]: "dns_error",
  [DeliveryError.TLS_ERROR]: "tls_error",
  [DeliveryError.ADDRESS_BLOCKED]: "address_blocked",
  [DeliveryError.HTTP_STATUS]: "http_status",
  [DeliveryError.BODY_TOO_LARGE]: "body_too_large",
};

/** What of a delivery is shown in full. */
export interface DeliveryExpansion {
  /** As `attempt_list`. */
  attempts?: boolean;
  /** The body that is sent, as JSON; null once it was emptied. */
  payload?: boolean;
}

export function deliveryJson(delivery: Delivery, expansion: DeliveryExpansion = {}): string {
  const json = JSON.stringify({
    id: delivery.id,
    object: "webhook_delivery",
    endpoint_id: delivery.endpointId,
    message_id: delivery.messageId,
    type: delivery.type,
    status: statusNames[delivery.status],
    attempts: delivery.attempts,
    next_attempt_at: timeOrNull(delivery.nextAttemptAt),
    last_response_status: delivery.lastResponseStatus ?? null,
    last_error: errorNames[delivery.lastError],
    trigger: triggerNames[delivery.trigger],
    created_at: timeText(delivery.createdAt),
    updated_at: timeText(delivery.updatedAt),
    completed_at: timeOrNull(delivery.completedAt),
    ...(expansion.attempts ? { attempt_list: delivery.attemptList.map(attemptFields) } : {}),
  });
  // The body stays as it is sent.
  return expansion.payload ? `${json.slice(0, -1)},"payload":${delivery.payloadJson ?? "null"}}` : json;
}

function attemptFields(attempt: Attempt): object {
  return {
    number: attempt.number,
    started_at: timeText(attempt.startedAt),
    duration_ms: attempt.durationMs,
    response_status: attempt.responseStatus ?? null,
    error: errorNames[attempt.error],
    response_excerpt: attempt.responseExcerpt,
  };
}

const replayStatusNames: Record<ReplayStatus, string | null> = {
  [ReplayStatus.UNSPECIFIED]: null,
  [ReplayStatus.PROCESSING]: "processing",
  [ReplayStatus.COMPLETE]: "complete",
  [ReplayStatus.CANCELLED]: "cancelled",
};

export function replayJson(replay: Replay): string {
  return JSON.stringify({
    id: replay.id,
    object: "webhook_replay",
    endpoint_id: replay.endpointId,
    from: timeText(replay.from),
    to: timeText(replay.to),
    types: replay.types,
    only: replay.only === ReplayChoice.FAILED ? "failed" : "all",
    status: replayStatusNames[replay.status],
    deliveries: Number(replay.deliveries),
    created_at: timeText(replay.createdAt),
    completed_at: timeOrNull(replay.completedAt),
  });
}

export function webhookTypeJson({ name, scope, description, schema, example }: WebhookType): string {
  return JSON.stringify({ name, object: "webhook_type", scope, description, schema, example });
}

/** The data of `event.linked`. */
export function linkedJson(eventId: string, profileId: string): string {
  return JSON.stringify({ event_id: eventId, profile_id: profileId });
}

/**
 * The data of `profile.created`, `profile.merged` and `profile.redacted`. A profile is read by its id, because what is
 * in a message cannot be taken back.
 * @param version null where it is not known.
 */
export function profileChangeJson(profileId: string, version: number | null, sourceProfileId?: string): string {
  const source = sourceProfileId === undefined ? {} : { source_profile_id: sourceProfileId };
  return JSON.stringify({ profile_id: profileId, version, ...source });
}

/** The data of `app.uninstalled`. */
export function uninstalledJson(installationId: string): string {
  return JSON.stringify({ installation_id: installationId });
}

/** The data of `webhook.test`. */
export function testJson(endpointId: string): string {
  return JSON.stringify({ endpoint_id: endpointId });
}

/** The data of `rejected_writes.reported`. */
export function rejectedReportJson(report: RejectedWritesReported): string {
  return JSON.stringify({
    from: timeText(report.from),
    to: timeText(report.to),
    count: Number(report.count),
    groups: report.groups.map((group) => ({
      operation: group.operation,
      code: group.code,
      param: group.param ?? null,
      event_type: group.eventType ?? null,
      key_id: group.keyId,
      key_name: group.keyName,
      severity: group.severity === RejectionSeverity.WARNING ? "warning" : "error",
      count: Number(group.count),
      first_at: timeText(group.firstAt),
      last_at: timeText(group.lastAt),
      sample_ids: group.sampleIds,
    })),
  });
}
