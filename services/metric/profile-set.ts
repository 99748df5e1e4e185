/** Sets of profiles: Roaring bitmaps of their ordinals. They take memory outside of JavaScript's, so each is disposed of by whoever made it. */
import { RoaringBitmap32 } from "roaring-wasm";

/** See the head of this file. */
export type ProfileSet = RoaringBitmap32;

export function newProfileSet(ordinals: Iterable<number> = []): ProfileSet {
  return new RoaringBitmap32(ordinals);
}

/** Reads what writeProfileSet wrote, in the portable form of the Roaring format. */
export function readProfileSet(bytes: Uint8Array): ProfileSet {
  return RoaringBitmap32.deserialize("portable", bytes);
}

export function writeProfileSet(set: ProfileSet): Buffer {
  return Buffer.from(set.serialize("portable"));
}

/** Bytes of a set with some ordinals more. */
export function withOrdinals(bytes: Uint8Array | undefined, ordinals: Iterable<number>): Buffer {
  const set = bytes === undefined ? newProfileSet() : readProfileSet(bytes);
  try {
    set.addMany(ordinals);
    return writeProfileSet(set);
  } finally {
    set.dispose();
  }
}
