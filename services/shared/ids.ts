/**
 * Ids: UUIDv7 in the database, TypeID everywhere else (prefix, underscore, 26 base-32 characters).
 * This is the one place that converts. The codec is our own because ids are converted six times per event and the
 * typeid-js package spends about 3 µs on each; the tests hold this one against it.
 * Format: https://github.com/jetify-com/typeid/tree/main/spec
 */
import { v7 } from "uuid";
import { DaybookError } from "./errors.ts";

/** What each prefix names. */
export type IdPrefix = "prof" | "idnt" | "evt" | "mtr" | "req" | "prop" | "key" | "cur";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const valueOfCode = new Int8Array(128).fill(-1);
for (let value = 0; value < 32; value++) valueOfCode[alphabet.charCodeAt(value)] = value;
const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

const suffixLength = 26;
const idPattern = /^[a-z]{2,5}_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** A new UUIDv7, as the database takes it. Those of one process sort by creation, also within a millisecond. */
export function newUuid(): string {
  return v7();
}

/** A new TypeID. */
export function newId(prefix: IdPrefix): string {
  return encodeId(prefix, v7());
}

/** The TypeID of a UUID. */
export function encodeId(prefix: IdPrefix, uuid: string): string {
  let suffix = "";
  // 128 bits in 26 groups of 5: two zero bits stand in front.
  let bits = 0;
  let bitCount = 2;
  for (let at = 0; at < 36; at++) {
    if (at === 8 || at === 13 || at === 18 || at === 23) continue;
    bits = (bits << 4) | hexValue(uuid.charCodeAt(at));
    bitCount += 4;
    if (bitCount >= 5) {
      bitCount -= 5;
      suffix += alphabet[(bits >> bitCount) & 31];
      bits &= (1 << bitCount) - 1;
    }
  }
  return `${prefix}_${suffix}`;
}

/**
 * The UUID of a TypeID, in either case.
 * @throws DaybookError `invalid_id` with `param` when the prefix or the alphabet is wrong.
 */
export function decodeId(prefix: IdPrefix, id: string, param: string): string {
  const uuid = tryDecodeId(prefix, id);
  if (uuid === undefined) {
    throw new DaybookError("invalid_id", `This is not an id of the form ${prefix}_ and 26 base-32 characters.`, {
      param,
    });
  }
  return uuid;
}

/** The UUID of a TypeID, in either case, or undefined when it is not one of this prefix. */
export function tryDecodeId(prefix: IdPrefix, id: string): string | undefined {
  if (id.length !== prefix.length + 1 + suffixLength) return undefined;
  const lower = id.toLowerCase();
  // Length first: lower-casing may change the length of text that is not ASCII.
  if (lower.length !== id.length || !lower.startsWith(`${prefix}_`)) return undefined;
  let uuid = "";
  let bits = 0;
  let bitCount = -2;
  for (let at = prefix.length + 1; at < lower.length; at++) {
    const code = lower.charCodeAt(at);
    const value = code < 128 ? (valueOfCode[code] as number) : -1;
    if (value < 0 || (bitCount === -2 && value > 7)) return undefined;
    bits = (bits << 5) | value;
    bitCount += 5;
    if (bitCount >= 8) {
      bitCount -= 8;
      if (uuid.length === 8 || uuid.length === 13 || uuid.length === 18 || uuid.length === 23) uuid += "-";
      uuid += hexOfByte[(bits >> bitCount) & 255];
      bits &= (1 << bitCount) - 1;
    }
  }
  return uuid;
}

/** Whether a text has the form of an id of any prefix, in lower case. */
export function isId(text: string): boolean {
  return idPattern.test(text);
}

function hexValue(code: number): number {
  return code <= 57 ? code - 48 : (code | 32) - 87;
}
