import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListRejectedWritesResponseSchema, type RejectedWriteService } from "#proto/daybook/event/v1/rejected_pb.ts";
import { decodeId, highestUuid, lowestUuidAt } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import { groupParam } from "#shared/values/rejections.ts";
import { parseDateTime, toRange } from "#shared/values/time.ts";
import type { EventContext } from "../context.ts";
import { oldestWrite } from "../rejected-retention.ts";
import { toRejectedWrite } from "../rejected-mapping.ts";
import { listWrites } from "../sql/rejected-writes.ts";

const limitMax = 500;
// An item of a request with an Idempotency-Key has the time of the first attempt in its id, which is at most this old.
const idAheadMs = 25 * 3600 * 1000;
const idBehindMs = 1_000;

export function listRejectedWrites({
  reads,
  clock,
}: EventContext): ServiceImpl<typeof RejectedWriteService>["listRejectedWrites"] {
  return async ({ propertyId, filter, limit, afterRejectedWriteId }, { signal }) => {
    checkLimit(limit, limitMax, "rejected writes");
    const property = decodeId("prop", propertyId, "property_id");
    const after =
      afterRejectedWriteId === undefined ? undefined : decodeId("rej", afterRejectedWriteId, "after_rejected_write_id");
    const rejectedAt = toRange(filter?.rejectedAt);
    const oldest = oldestWrite(clock);
    const fromMs = msOf(rejectedAt.from);
    const from = fromMs === undefined ? oldest : lowestUuidAt(Math.max(0, fromMs - idAheadMs));
    const beforeMs = msOf(rejectedAt.before);
    const last = beforeMs === undefined ? highestUuid : lowestUuidAt(Math.max(0, beforeMs + idBehindMs));
    const values = {
      property,
      operation: filter?.operation,
      code: filter?.code,
      param: filter?.param === undefined ? undefined : (groupParam(filter.param) ?? ""),
      event_type: filter?.eventType,
      key_id: filter?.keyId,
      request_id: filter?.requestId,
      client_reference: filter?.clientReference,
      severity: filter?.severity || undefined,
      rejectedAt,
      from: from > oldest ? from : oldest,
      before: after !== undefined && after < last ? after : last,
    };
    const reader = reads.of(property, signal);
    const { rows, hasMore } = await pageOf(limit, (most) => listWrites(reader, { ...values, limit: most }));
    return create(ListRejectedWritesResponseSchema, {
      writes: rows.map((row) => toRejectedWrite(property, row)),
      hasMore,
    });
  };
}

/** Undefined without a bound, and for one beyond all ids. */
function msOf(instant: string | undefined): number | undefined {
  const micros = instant === undefined ? undefined : parseDateTime(instant);
  const ms = micros === undefined ? undefined : Math.ceil(micros / 1000);
  return ms !== undefined && ms < 2 ** 47 ? ms : undefined;
}
