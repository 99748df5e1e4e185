/** Pages of lists: as many rows as are asked for, unless they are too large together. */
import { DaybookError } from "./errors.ts";

/** Bytes of one page, above which it ends; so a page holds at most these and one row. */
export const pageBytesMax = 16 * 1024 * 1024;
/** Rows that are read at once. */
export const stepRowsMax = 100;

/**
 * Checks how many rows of a list are asked for.
 * @param noun names them, in the plural.
 * @throws DaybookError `parameter_invalid`.
 */
export function checkLimit(limit: number, limitMax: number, noun: string): void {
  if (limit >= 1 && limit <= limitMax) return;
  throw new DaybookError("parameter_invalid", `A page has 1 to ${limitMax} ${noun}.`, { param: "limit" });
}

/**
 * Reads one page of a list whose rows are small.
 * @param read reads up to so many rows.
 */
export async function pageOf<Row>(
  limit: number,
  read: (limit: number) => Promise<Row[]>,
): Promise<{ rows: Row[]; hasMore: boolean }> {
  // One more than asked for tells whether more follow.
  const found = await read(limit + 1);
  return { rows: found.slice(0, limit), hasMore: found.length > limit };
}

/** How a list is read. */
export interface PageReader<Row, Place> {
  /** Reads up to so many rows behind a place; without one from the beginning. */
  read: (after: Place | undefined, limit: number) => Promise<Row[]>;
  /** Where the list goes on behind a row. */
  placeOf: (row: Row) => Place;
  /** About how many bytes a row has. */
  sizeOf: (row: Row) => number;
}

/**
 * Reads one page: a list is read in steps, so that no more is held than fits on one, whatever its rows are like.
 * @returns its rows, and whether more follow.
 */
export async function readPage<Row, Place>(
  limit: number,
  after: Place | undefined,
  { read, placeOf, sizeOf }: PageReader<Row, Place>,
): Promise<{ rows: Row[]; hasMore: boolean }> {
  const rows: Row[] = [];
  let bytes = 0;
  for (let place = after; ;) {
    const room = limit - rows.length;
    const step = Math.min(room, stepRowsMax);
    // One more than that tells whether more follow.
    const found = await read(place, step + 1);
    for (const [index, row] of found.slice(0, step).entries()) {
      rows.push(row);
      bytes += sizeOf(row);
      if (bytes >= pageBytesMax) return { rows, hasMore: index + 1 < found.length };
    }
    const last = rows.at(-1);
    if (found.length <= step || step === room || last === undefined) return { rows, hasMore: found.length > step };
    place = placeOf(last);
  }
}
