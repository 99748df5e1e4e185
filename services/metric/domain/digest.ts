/** What a batch of events means for the metrics. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/clock.ts";
import { fromTimestamp } from "#shared/time.ts";
import { mergeSchema, observe, type ObservedSchema } from "./schema.ts";

/** What some events of one type have in common. */
export interface Digest {
  count: number;
  /** When the first of them was received, and where it came from. */
  firstSeenAt: Micros;
  source: string;
  schema: ObservedSchema;
}

/** Digests events by type. */
export function digestEvents(events: readonly Event[]): Map<string, Digest> {
  const digests = new Map<string, Digest>();
  for (const event of events) {
    if (!event.receivedAt) throw new Error("an event has no received_at");
    const schema: ObservedSchema = new Map();
    observe(schema, JSON.parse(event.propertiesJson) as object);
    const digest = { count: 1, firstSeenAt: fromTimestamp(event.receivedAt), source: event.source, schema };
    addDigest(digests, event.type, digest);
  }
  return digests;
}

/** Adds a digest to those that are there already. */
export function addDigest(digests: Map<string, Digest>, key: string, digest: Digest): void {
  const known = digests.get(key);
  if (!known) {
    digests.set(key, digest);
    return;
  }
  known.count += digest.count;
  if (digest.firstSeenAt < known.firstSeenAt) {
    known.firstSeenAt = digest.firstSeenAt;
    known.source = digest.source;
  }
  mergeSchema(known.schema, digest.schema);
}
