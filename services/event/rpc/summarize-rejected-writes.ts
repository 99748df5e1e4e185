import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  SummarizeRejectedWritesResponseSchema,
  type RejectedWriteService,
} from "#proto/daybook/event/v1/rejected_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import { groupParam } from "#shared/values/rejections.ts";
import { formatMicros, parseDateTime, toRange, type Instant } from "#shared/values/time.ts";
import { minuteOf } from "../domain/rejections.ts";
import type { EventContext } from "../context.ts";
import { toGroups } from "../rejected-mapping.ts";
import { oldestCount, oldestWrite } from "../rejected-retention.ts";
import { summarize } from "../sql/rejected-counts.ts";

const limitMax = 500;

export function summarizeRejectedWrites({
  reads,
  clock,
}: EventContext): ServiceImpl<typeof RejectedWriteService>["summarizeRejectedWrites"] {
  return async ({ propertyId, filter, limit }, { signal }) => {
    checkLimit(limit, limitMax, "groups");
    const property = decodeId("prop", propertyId, "property_id");
    const { from, before } = toRange(filter?.rejectedAt);
    const oldest = oldestCount(clock);
    const first = toMinute(from) ?? oldest;
    const reader = reads.of(property, signal);
    const { rows, hasMore } = await pageOf(limit, (most) =>
      summarize(reader, [
        property,
        first > oldest ? first : oldest,
        before ?? "infinity",
        filter?.operation ?? null,
        filter?.code ?? null,
        filter?.param === undefined ? null : (groupParam(filter.param) ?? ""),
        filter?.eventType ?? null,
        filter?.keyId ?? null,
        filter?.severity || null,
        most,
      ]),
    );
    return create(SummarizeRejectedWritesResponseSchema, {
      groups: await toGroups(reader, property, oldestWrite(clock), rows),
      count: BigInt(rows[0]?.total ?? 0),
      hasMore,
    });
  };
}

/** The begin of the minute of an instant. A minute that begins before the end of a range is in it. */
function toMinute(instant: Instant | undefined): Instant | undefined {
  const micros = instant === undefined ? undefined : parseDateTime(instant);
  return micros === undefined ? instant : formatMicros(minuteOf(micros));
}
