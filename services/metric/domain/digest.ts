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
    const receivedAt = fromTimestamp(event.receivedAt);
    let digest = digests.get(event.type);
    if (!digest) {
      digest = { count: 0, firstSeenAt: receivedAt, source: event.source, schema: new Map() };
      digests.set(event.type, digest);
    }
    digest.count++;
    see(digest, receivedAt, event.source);
    observe(digest.schema, JSON.parse(event.propertiesJson) as object);
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
  see(known, digest.firstSeenAt, digest.source);
  mergeSchema(known.schema, digest.schema);
}

function see(digest: Digest, at: Micros, source: string): void {
  if (at >= digest.firstSeenAt) return;
  digest.firstSeenAt = at;
  digest.source = source;
}
