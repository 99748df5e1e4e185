/** Turns rows of refused writes into messages. */
import { create, fromBinary } from "@bufbuild/protobuf";
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";
import {
  PayloadState,
  RejectedWriteSchema,
  type RejectedWrite,
  RejectedWriteGroupSchema,
  type RejectedWriteGroup,
} from "#proto/daybook/event/v1/rejected_pb.ts";
import type { Queryable } from "#shared/database/postgres.ts";
import { encodeId, type Uuid } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { GroupRow } from "./sql/rejected-counts.ts";
import { readSamples, type RejectedRow } from "./sql/rejected-writes.ts";

const samplesMax = 3;

/** @param payload what was sent, if it is read. */
export function toRejectedWrite(property: Uuid, row: RejectedRow, payload?: Buffer | null): RejectedWrite {
  const isGone = !row.has_payload && row.payload_state !== PayloadState.REDACTED;
  return create(RejectedWriteSchema, {
    id: encodeId("rej", row.id),
    propertyId: encodeId("prop", property),
    rejectedAt: toTimestamp(row.rejected_at),
    operation: row.operation,
    surface: row.surface,
    severity: row.severity,
    status: row.status,
    error: fromBinary(ErrorSchema, row.error),
    requestId: row.request_id,
    itemIndex: row.item_index ?? undefined,
    clientReference: row.client_reference ?? undefined,
    eventType: row.event_type ?? undefined,
    keyId: row.installation_id === null ? row.key_id : "",
    keyName: row.key_name,
    installationId: row.installation_id ?? undefined,
    jobId: row.job_id ?? undefined,
    payloadState: isGone ? PayloadState.NOT_KEPT : row.payload_state,
    payload: payload?.toString() ?? undefined,
  });
}

/** @param notBefore the lowest id of an entry that is still shown. */
export async function toGroups(
  database: Queryable,
  property: Uuid,
  notBefore: Uuid,
  rows: readonly GroupRow[],
): Promise<RejectedWriteGroup[]> {
  const digests = rows.map(({ group_digest }) => ({ group_digest }));
  const samples = rows.length > 0 ? await readSamples(database, [property, samplesMax, notBefore, digests]) : [];
  const byGroup = Map.groupBy(samples, ({ group_digest: digest }) => digest.toString("base64"));
  return rows.map((row) =>
    create(RejectedWriteGroupSchema, {
      operation: row.operation,
      code: row.code,
      param: row.param ?? undefined,
      eventType: row.event_type ?? undefined,
      keyId: row.key_id,
      keyName: row.key_name,
      count: BigInt(row.count),
      firstAt: toTimestamp(row.first_at),
      lastAt: toTimestamp(row.last_at),
      sampleIds: (byGroup.get(row.group_digest.toString("base64")) ?? []).map(({ id }) => encodeId("rej", id)),
      severity: row.severity,
    }),
  );
}
