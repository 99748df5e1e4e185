/** Goes through texts that may be large: their lengths are read, then as many at a time as memory is meant for. */

const bytesMax = 4 * 1024 * 1024;

/** Where a text stands, and its length in bytes. */
export interface TextPlace {
  bytes: number;
}

/**
 * @param page reads places after one, in order; fewer than `rowsMax` are the last.
 * @param act works on some of them, in order; all together are of at most 4 MB, or it is one.
 */
export async function forLargeTexts<Place extends TextPlace>(
  rowsMax: number,
  page: (after: Place | undefined, rowsMax: number) => Promise<Place[]>,
  act: (places: readonly Place[]) => Promise<void>,
): Promise<void> {
  for (let after: Place | undefined; ;) {
    const places = await page(after, rowsMax);
    let group: Place[] = [];
    let bytes = 0;
    for (const place of places) {
      if (group.length > 0 && bytes + place.bytes > bytesMax) {
        await act(group);
        [group, bytes] = [[], 0];
      }
      group.push(place);
      bytes += place.bytes;
    }
    if (group.length > 0) await act(group);
    if (places.length < rowsMax) return;
    after = places.at(-1);
  }
}
