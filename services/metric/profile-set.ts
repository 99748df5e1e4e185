/** Sets of profiles: Roaring bitmaps of their numbers. They take memory outside of JavaScript's, so each is disposed of by whoever made it. */
import { RoaringBitmap32 } from "roaring-wasm";

/** See the head of this file. */
export type ProfileSet = RoaringBitmap32;

export function newProfileSet(numbers: Iterable<number> = []): ProfileSet {
  return new RoaringBitmap32(numbers);
}

/** Reads what writeProfileSet wrote, in the portable form of the Roaring format. */
export function readProfileSet(bytes: Uint8Array): ProfileSet {
  return RoaringBitmap32.deserialize("portable", bytes);
}

export function writeProfileSet(set: ProfileSet): Buffer {
  return Buffer.from(set.serialize("portable"));
}

/** Bytes of a set with some numbers more. */
export function withNumbers(bytes: Uint8Array | undefined, numbers: Iterable<number>): Buffer {
  const set = bytes === undefined ? newProfileSet() : readProfileSet(bytes);
  try {
    set.addMany(numbers);
    return writeProfileSet(set);
  } finally {
    set.dispose();
  }
}
