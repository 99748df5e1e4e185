/** Pages of lists, limited by rows and by bytes. */
import { DaybookError } from "./errors.ts";

/** A page ends with the row that makes it this large, in bytes. */
export const pageBytesMax = 16 * 1024 * 1024;
/** Rows of one read. */
export const stepRowsMax = 100;

/**
 * Checks the limit of a page.
 * @param noun the rows' name in the message, in the plural.
 * @throws DaybookError `parameter_invalid`.
 */
export function checkLimit(limit: number, limitMax: number, noun: string): void {
  if (limit >= 1 && limit <= limitMax) return;
  throw new DaybookError("parameter_invalid", `A page has 1 to ${limitMax} ${noun}.`, { param: "limit" });
}

/**
 * Reads one page of a list of small rows.
 * @param read reads at most `limit` rows.
 */
export async function pageOf<Row>(
  limit: number,
  read: (limit: number) => Promise<Row[]>,
): Promise<{ rows: Row[]; hasMore: boolean }> {
  // One more row shows whether more follow.
  const found = await read(limit + 1);
  return { rows: found.slice(0, limit), hasMore: found.length > limit };
}

export interface PageReader<Row, Place> {
  /** Reads at most `limit` rows after a place, or from the beginning. */
  read: (after: Place | undefined, limit: number) => Promise<Row[]>;
  /** The place of a row, to read on after it. */
  placeOf: (row: Row) => Place;
  /** The approximate bytes of a row. */
  sizeOf: (row: Row) => number;
  /** A page ends with the row that makes it this large, in bytes; pageBytesMax unless it is said. */
  bytesMax?: number;
}

/**
 * Reads one page in steps of at most 100 rows, so that memory holds little more than one page.
 * @returns its rows, and whether more follow.
 */
export async function readPage<Row, Place>(
  limit: number,
  after: Place | undefined,
  { read, placeOf, sizeOf, bytesMax = pageBytesMax }: PageReader<Row, Place>,
): Promise<{ rows: Row[]; hasMore: boolean }> {
  const rows: Row[] = [];
  let bytes = 0;
  for (let place = after; ;) {
    const room = limit - rows.length;
    const step = Math.min(room, stepRowsMax);
    // One more row shows whether more follow.
    const found = await read(place, step + 1);
    for (const [index, row] of found.slice(0, step).entries()) {
      rows.push(row);
      bytes += sizeOf(row);
      if (bytes >= bytesMax) return { rows, hasMore: index + 1 < found.length };
    }
    const last = rows.at(-1);
    if (found.length <= step || step === room || last === undefined) return { rows, hasMore: found.length > step };
    place = placeOf(last);
  }
}
