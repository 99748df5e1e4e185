/** Pages of lists, linked by cursors. */
import { fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { MetaExtra } from "./envelope.ts";
import type { NativeExchange } from "./exchange.ts";

export interface Page {
  /** The position that the page begins after. */
  after: string | undefined;
  /** The page's meta. @param last the position of its last item. */
  meta(hasMore: boolean, last: string | undefined): MetaExtra;
}

/**
 * @param list names the list.
 * @throws DaybookError `invalid_cursor` unless the cursor is of this property, this list, these filters and this order
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

/** A position in a list in order of time. */
export function writePlace(time: Timestamp | undefined, id: string): string {
  if (!time) throw new Error("a time that is always there is missing");
  return `${fromTimestamp(time)} ${id}`;
}

export function readPlace(place: string): { time: Timestamp; id: string } {
  const [micros, id = ""] = place.split(" ");
  return { time: toTimestamp(Number(micros)), id };
}
