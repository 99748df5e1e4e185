/** Refused items of jobs as rejected writes. */
import { create } from "@bufbuild/protobuf";
import type { JobOrigin } from "#proto/daybook/common/v1/job_pb.ts";
import {
  PayloadState,
  RejectedWriteSchema,
  RejectionSurface,
  type RejectedWrite,
} from "#proto/daybook/event/v1/rejected_pb.ts";
import { toErrorMessage } from "../rpc/errors.ts";
import type { Micros } from "../values/clock.ts";
import { encodeId } from "../values/ids.ts";
import { cutText, payloadBytesMax, rejectionIdAt } from "../values/rejections.ts";
import { toTimestamp } from "../values/time.ts";
import type { JobChunk, RefusedItem } from "./jobs.ts";

/**
 * Describes a refused item.
 * @param sent the text of the item.
 */
export function toRejectedItem(
  { index, error }: RefusedItem<unknown>,
  { chunk, origin, now }: { chunk: JobChunk; origin: JobOrigin; now: Micros },
  sent: string,
  eventType?: string,
): RejectedWrite {
  const { operation, requestId, keyId, keyName, installationId } = origin;
  const isCompat = operation.startsWith("compat.");
  const bytes = Buffer.from(sent);
  const payload = cutText(bytes, payloadBytesMax);
  return create(RejectedWriteSchema, {
    id: encodeId("rej", rejectionIdAt(now)),
    propertyId: encodeId("prop", chunk.property),
    rejectedAt: toTimestamp(now),
    operation,
    surface: isCompat ? RejectionSurface.COMPAT : RejectionSurface.NATIVE,
    // The compatibility surface has no 422.
    status: isCompat && error.status === 422 ? 400 : error.status,
    error: toErrorMessage(error),
    requestId,
    itemIndex: index,
    eventType,
    keyId,
    keyName,
    installationId,
    jobId: encodeId("job", chunk.job),
    payload: payload.toString(),
    payloadState: payload.length < bytes.length ? PayloadState.TRUNCATED : PayloadState.KEPT,
  });
}
