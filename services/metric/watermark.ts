/** The low watermark of counting. */
import type { CallOptions, Client } from "@connectrpc/connect";
import type { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { decodeId, toUuid } from "#shared/values/ids.ts";
import type { Queryable } from "#shared/database/postgres.ts";
import { formatMicros, fromTimestamp } from "#shared/values/time.ts";
import { operations } from "./sql/operations.ts";

/**
 * The instants up to which all events of a property are recorded, and counted in the roll-ups. Call this before reading
 * either. It checks the event service and then the counted batches, in the order of messages, so no batch is missed.
 */
export async function readAsOf(
  events: Client<typeof EventService>,
  database: Queryable,
  propertyId: string,
  options: CallOptions,
): Promise<{ recorded: Micros; counted: Micros }> {
  const { recordedUpTo, waiting, hasMore } = await events.getWatermark({ propertyId }, options);
  if (!recordedUpTo) throw new Error("a watermark lacks its time");
  const recorded = fromTimestamp(recordedUpTo);
  if (waiting.length === 0) return { recorded, counted: recorded };
  const property = decodeId("prop", propertyId, "property_id");
  const ids = waiting.map(({ batchId }) => toUuid(batchId));
  const rows = await operations.find(database, [property, ids, formatMicros(recorded)]);
  const taken = new Set<string>(rows.map(({ id }) => id));
  // Unlisted batches were received no earlier than the last listed one.
  const open = waiting.find(({ batchId }) => !taken.has(batchId)) ?? (hasMore ? waiting.at(-1) : undefined);
  const before = open?.receivedAt ? fromTimestamp(open.receivedAt) - 1 : recorded;
  return { recorded, counted: Math.min(recorded, before) };
}
