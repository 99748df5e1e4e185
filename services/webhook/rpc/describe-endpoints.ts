import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { DescribeEndpointsResponseSchema, type WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import type { WebhookContext } from "../context.ts";
import { toReplay } from "../mapping.ts";
import { countRecent, describeWaiting } from "../sql/delivery-reads.ts";
import { listProcessing } from "../sql/replays.ts";

const countedMax = 100_000;
const dayMicros = 24 * 60 * 60 * 1_000_000;

export function describeEndpoints({
  reads,
  clock,
}: WebhookContext): ServiceImpl<typeof WebhookService>["describeEndpoints"] {
  return async ({ propertyId }, { signal }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const reader = reads.of(property, signal);
    const now = clock.nowMicros();
    const waiting = await describeWaiting(reader, [property, countedMax]);
    const counts = await countRecent(reader, [property, formatMicros(now - dayMicros), countedMax]);
    const replays = new Map((await listProcessing(reader, [property])).map((row) => [row.endpoint_id, row]));
    return create(DescribeEndpointsResponseSchema, {
      endpoints: waiting.map(({ id, paused_until: pausedUntil, pending }) => {
        const replay = replays.get(id);
        const countOf = (status: string): bigint =>
          BigInt(counts.find((row) => row.endpoint_id === id && row.status === status)?.count ?? 0);
        return {
          endpointId: encodeId("hook", id),
          delivered: countOf("delivered"),
          failed: countOf("failed"),
          pending: BigInt(pending),
          pausedUntil: toTimestamp(pausedUntil !== null && pausedUntil > now ? pausedUntil : null),
          replay: replay && toReplay(replay),
        };
      }),
    });
  };
}
