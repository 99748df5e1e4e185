/** Places in the events, as a stream names them: opaque to browsers, which send them back to go on. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { EventPositionSchema, type EventPosition } from "#proto/daybook/event/v1/event_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { isId } from "#shared/values/ids.ts";
import { fromTimestamp } from "#shared/values/time.ts";

export function writePosition(position: EventPosition): string {
  return Buffer.from(toBinary(EventPositionSchema, position)).toString("base64url");
}

/** @throws DaybookError `invalid_cursor` */
export function readPosition(text: string): EventPosition {
  const position = parse(text);
  if (position?.time && isId(position.eventId) && position.eventId.startsWith("evt_")) return position;
  throw new DaybookError("invalid_cursor", "`after` must be the id of a frame of this stream. Start without it.", {
    param: "after",
  });
}

function parse(text: string): EventPosition | undefined {
  try {
    return fromBinary(EventPositionSchema, Buffer.from(text, "base64url"));
  } catch {
    return undefined;
  }
}

/** Below 0 if the first place is before the second, 0 if they are the same. Ids of a prefix sort as their UUIDs. */
export function comparePositions(some: EventPosition, other: EventPosition): number {
  const [a, b] = [some, other].map(({ time }) => (time ? fromTimestamp(time) : 0)) as [number, number];
  if (a !== b) return a - b;
  return some.eventId < other.eventId ? -1 : some.eventId > other.eventId ? 1 : 0;
}

/** The place of an event. */
export function positionOf({ receivedAt, id }: { receivedAt?: EventPosition["time"]; id: string }): EventPosition {
  return create(EventPositionSchema, { eventId: id, ...(receivedAt ? { time: receivedAt } : {}) });
}
