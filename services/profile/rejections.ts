/** Tells the event service of items that import jobs refused, over the outbox. */
import { create, toBinary } from "@bufbuild/protobuf";
import { WritesRejectedSchema, type RejectedWrite } from "#proto/daybook/event/v1/rejected_pb.ts";
import type { Place } from "#shared/bus/bus.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import { rewriteMessages, type OutboxRelay } from "#shared/outbox/outbox.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Names } from "#shared/values/names.ts";
import { personFinder } from "#shared/values/persons.ts";
import { rejectionsWithout } from "#shared/values/rejected-texts.ts";

const subject = "daybook.profile.writes_rejected";
// The bus takes messages of up to 1 MB.
const messageBytesMax = 768 * 1024;
// Beside the payload: the error with its texts.
const otherBytesMax = 16 * 1024;

/** Adds messages with refused writes of a property, in as few as their size allows. */
export async function tellRejected(
  { relay }: { relay: OutboxRelay },
  tx: Transaction,
  property: Uuid,
  writes: readonly RejectedWrite[],
): Promise<void> {
  let part: RejectedWrite[] = [];
  let bytes = 0;
  const send = async (): Promise<void> => {
    if (part.length === 0) return;
    const message = create(WritesRejectedSchema, { writes: part });
    await relay.enqueue(tx, property, subject, toBinary(WritesRejectedSchema, message));
    part = [];
    bytes = 0;
  };
  for (const write of writes) {
    const size = Buffer.byteLength(write.payload ?? "") + otherBytesMax;
    if (bytes + size > messageBytesMax) await send();
    part.push(write);
    bytes += size;
  }
  await send();
}

/**
 * Empties messages that name a person, except those that are being published.
 * @returns the places of the old messages on the bus.
 */
export function emptyRejected(tx: Transaction, property: Uuid, person: Names): Promise<Place[]> {
  const of = { schema: "profile", property, subject };
  return rewriteMessages(tx, of, rejectionsWithout(personFinder(person)));
}
