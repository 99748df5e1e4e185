/** What Webhooks, Rejected writes and Privacy show, for tests of the dashboard. */
import { PayloadState, RejectionSurface } from "#proto/daybook/event/v1/rejected_pb.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RejectedWriteSchema } from "#proto/daybook/event/v1/rejected_pb.ts";
import { systemClock } from "#shared/values/clock.ts";
import { decodeId, encodeId, newId, newUuid } from "#shared/values/ids.ts";
import { newestRevision } from "#shared/values/revisions.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { execute } from "./database.ts";
import { testCall, type TestDaybook } from "./daybook.ts";

/** Makes an endpoint of the property itself. */
export async function newEndpoint(
  { clients: { webhooks } }: TestDaybook,
  propertyId: string,
  { url = "https://hooks.example.com/daybook", description = "Warehouse", types = ["event.recorded"] } = {},
): Promise<string> {
  const made = { propertyId, url, description, types, revision: newestRevision, createdBy: "operator" };
  const { endpoint } = await webhooks.createEndpoint(made, testCall);
  return endpoint?.id ?? "";
}

export type DeliveryState = "delivered" | "failed" | "cancelled";

/** Keeps a delivery as if it had been sent before; the endpoint must be there. @returns its id */
export async function keepDelivery(
  { databaseUrl }: TestDaybook,
  propertyId: string,
  endpointId: string,
  status: DeliveryState,
): Promise<string> {
  const [property, endpoint] = [decodeId("prop", propertyId, "id"), decodeId("hook", endpointId, "id")];
  const [id, message] = [newUuid(), newUuid()];
  const at = new Date().toISOString();
  const body = {
    id: encodeId("whm", message),
    object: "webhook_message",
    type: "event.recorded",
    data: { value: "49.90" },
  };
  const excerpt = "The database is away. <b>Try later</b>";
  const attempt = { at, duration_ms: 210, status: 500, error: "http_status", excerpt };
  const good = { at, duration_ms: 80, status: 200 };
  const attempts =
    status === "delivered"
      ? [attempt, good]
      : [attempt, { ...attempt, status: undefined, error: "timeout", excerpt: "" }];
  const last = status === "delivered" ? "200, NULL" : "NULL, 'timeout'";
  const text = (value: unknown): string => `'${JSON.stringify(value).replaceAll("'", "''")}'`;
  await execute(
    databaseUrl,
    `INSERT INTO webhook.messages (property_id, id, revision, type, body, created_at)
     VALUES ('${property}', '${message}', '${newestRevision}', 'event.recorded', ${text(body)}, '${at}');
     INSERT INTO webhook.deliveries (property_id, id, endpoint_id, message_id, revision, type, trigger, status, attempts,
       response_status, error, attempt_log, created_at, updated_at, completed_at)
     VALUES ('${property}', '${id}', '${endpoint}', '${message}', '${newestRevision}', 'event.recorded', 'live', '${status}',
       2, ${last}, ${text(attempts)}, '${at}', '${at}', '${at}')`,
  );
  return encodeId("dlv", id);
}

type Write = Exclude<MessageInitShape<typeof RejectedWriteSchema>, { $typeName: string }>;

/** Keeps a refused write as a gateway tells of it. @returns its id */
export async function keepRejectedWrite(
  { clients: { rejectedWrites } }: TestDaybook,
  propertyId: string,
  fields: Partial<Write> = {},
): Promise<string> {
  const write = {
    id: newId("rej"),
    propertyId,
    rejectedAt: toTimestamp(systemClock.nowMicros()),
    operation: "events.create",
    surface: RejectionSurface.NATIVE,
    status: 400,
    error: { code: "parameter_invalid", message: "`value` must be a decimal string.", param: "value" },
    requestId: newId("req"),
    eventType: "order.completed",
    keyId: newId("key"),
    keyName: "Till",
    payload: '{"type":"order.completed","identifier":{"type":"email","value":"ada@example.com"},"value":49.9}',
    payloadState: PayloadState.KEPT,
    ...fields,
  };
  await rejectedWrites.recordRejectedWrites({ writes: [write] }, testCall);
  return write.id;
}
