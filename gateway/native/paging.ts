/** Pages of lists: from a cursor to the next. */
import { fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { MetaExtra } from "./envelope.ts";
import type { NativeExchange } from "./exchange.ts";

/** A page that is asked for. */
export interface Page {
  /** Where it begins: behind this place. */
  after: string | undefined;
  /** What meta says of the page, given the place of its last item. */
  meta(hasMore: boolean, last: string | undefined): MetaExtra;
}

/**
 * Reads where a page begins.
 * @param list names the list.
 * @throws DaybookError `invalid_cursor` unless the cursor is of this property, this list, these filters and this order.
 */
export function openPage({ context: { cursors }, propertyId, query }: NativeExchange, list: string): Page {
  const scope = [propertyId, list, ...query.fingerprint];
  return {
    after: query.after === undefined ? undefined : cursors.read(scope, query.after),
    meta(hasMore, last) {
      const nextCursor = hasMore && last !== undefined ? cursors.write(scope, last) : null;
      return { page: { limit: query.limit, has_more: hasMore, next_cursor: nextCursor } };
    },
  };
}

/** A place in a list that is in order of time. */
export function writePlace(time: Timestamp | undefined, id: string): string {
  if (!time) throw new Error("a time that is always there is missing");
  return `${fromTimestamp(time)} ${id}`;
}

/** Reads what writePlace wrote. */
export function readPlace(place: string): { time: Timestamp; id: string } {
  const [micros, id = ""] = place.split(" ");
  return { time: toTimestamp(Number(micros)), id };
}
