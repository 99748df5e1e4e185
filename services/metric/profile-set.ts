/**
 * Sets of profile ordinals as Roaring bitmaps. They use memory outside the JavaScript heap, so their creator must
 * dispose of them.
 */
import { RoaringBitmap32 } from "roaring-wasm";

export type ProfileSet = RoaringBitmap32;

export function newProfileSet(ordinals: Iterable<number> = []): ProfileSet {
  return new RoaringBitmap32(ordinals);
}

/** Reads the portable Roaring format. */
export function readProfileSet(bytes: Uint8Array): ProfileSet {
  return RoaringBitmap32.deserialize("portable", bytes);
}

export function writeProfileSet(set: ProfileSet): Buffer {
  return Buffer.from(set.serialize("portable"));
}

/** Adds ordinals to a serialized set. */
export function withOrdinals(bytes: Uint8Array | undefined, ordinals: Iterable<number>): Buffer {
  const set = bytes === undefined ? newProfileSet() : readProfileSet(bytes);
  try {
    set.addMany(ordinals);
    return writeProfileSet(set);
  } finally {
    set.dispose();
  }
}
