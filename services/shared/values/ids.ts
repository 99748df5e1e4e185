/**
 * Ids: UUIDv7 in the database, TypeID everywhere else (prefix, underscore, 26 base-32 characters). Only this file makes
 * and converts them. It uses neither uuid nor typeid-js because both take about 3 µs, and an event has three new ids
 * and six conversions; the tests compare the codec with typeid-js.
 * Format: https://github.com/jetify-com/typeid/tree/main/spec
 */
import { createHash, randomFillSync } from "node:crypto";
import type { Brand } from "./brand.ts";
import { DaybookError } from "./errors.ts";

/** A UUID in lower case, as PostgreSQL writes it. */
export type Uuid = Brand<string, "Uuid">;

/** The lowest UUID. */
export const nilUuid = "00000000-0000-0000-0000-000000000000" as Uuid;

/** The highest UUID. */
export const highestUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff" as Uuid;

/** The prefixes of TypeIDs. */
export type IdPrefix =
  | "prof"
  | "idnt"
  | "evt"
  | "mtr"
  | "req"
  | "prop"
  | "key"
  | "cur"
  | "op"
  | "job"
  | "err"
  | "cli"
  | "mem"
  | "sess"
  | "inv"
  | "aud"
  | "app"
  | "secr"
  | "inst"
  | "grnt"
  | "hook"
  | "whm"
  | "dlv"
  | "rpl"
  | "rej"
  | "priv"
  | "supp";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const valueOfCode = new Int8Array(128).fill(-1);
for (let value = 0; value < 32; value++) valueOfCode[alphabet.charCodeAt(value)] = value;
// Characters of 10 bits.
const pairs = Array.from({ length: 1024 }, (_, bits) => `${alphabet[bits >> 5]}${alphabet[bits & 31]}`);
const valueOfHex = new Uint8Array(128);
for (const digit of "0123456789abcdefABCDEF") valueOfHex[digit.charCodeAt(0)] = Number.parseInt(digit, 16);
const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

const suffixLength = 26;
const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const idPattern = /^[a-z]{2,5}_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

// Random bytes are drawn in bulk, because a large draw costs about as much as the bytes of one id.
const pool = Buffer.alloc(8 * 1024);
const bytesPerId = 10;
let poolAt = pool.length;
let lastMs = 0;
// The begin of ids of that millisecond.
let lastTime = "";
let counter = 0;

/**
 * Makes a UUIDv7 (RFC 9562). Those of one process sort by creation: a counter of 12 bits precedes the 62 random ones
 * within a millisecond, and when it overflows, or the clock goes back, the time advances instead.
 */
export function newUuid(): Uuid {
  if (poolAt + bytesPerId > pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const now = Date.now();
  if (now > lastMs) {
    // Starts in the lower half, so that it can count up.
    counter = pool.readUInt16BE(poolAt) & 0x7ff;
    setTime(now);
  } else if (++counter > 0xfff) {
    counter = 0;
    setTime(lastMs + 1);
  }
  const count = (0x7000 | counter).toString(16);
  const variant = (0x80 | ((pool[poolAt + 2] as number) & 0x3f)).toString(16) + hexOfByte[pool[poolAt + 3] as number];
  const tail = pool.toString("hex", poolAt + 4, poolAt + bytesPerId);
  poolAt += bytesPerId;
  return `${lastTime}-${count}-${variant}-${tail}` as Uuid;
}

function setTime(timeMs: number): void {
  lastMs = timeMs;
  lastTime = timeText(timeMs);
}

/** The time within a UUIDv7: `019abcde-f012`. */
function timeText(timeMs: number): string {
  const time = timeMs.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

/** The lower bound of all UUIDv7s of a time, in milliseconds since 1970. */
export function lowestUuidAt(timeMs: number): Uuid {
  return `${timeText(timeMs)}-0000-0000-000000000000` as Uuid;
}

/** The time of a UUIDv7, in milliseconds since 1970. */
export function timeOfUuid(uuid: Uuid): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/** Derives the UUIDv7 of a part of something from its UUIDv7: deterministic, with the same time. */
export function deriveUuid(uuid: Uuid, part: string): Uuid {
  const hash = createHash("sha256").update(`${uuid} ${part}`).digest("hex");
  const variant = (0x8 | (Number.parseInt(hash.slice(3, 4), 16) & 0x3)).toString(16);
  return `${uuid.slice(0, 13)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}` as Uuid;
}

/**
 * Checks a UUID that arrived as text.
 * @throws RangeError when it is none, or not in lower case.
 */
export function toUuid(text: string): Uuid {
  if (!uuidPattern.test(text)) throw new RangeError("this is not a UUID");
  return text as Uuid;
}

/** Makes a TypeID. */
export function newId(prefix: IdPrefix): string {
  return encodeId(prefix, newUuid());
}

/** The TypeID of a UUID. */
export function encodeId(prefix: IdPrefix, uuid: Uuid): string {
  let id = `${prefix}_`;
  // 128 bits in 13 groups of 10, which are two characters each: two zero bits precede them.
  let bits = 0;
  let bitCount = 2;
  for (let at = 0; at < 36; at++) {
    if (at === 8 || at === 13 || at === 18 || at === 23) continue;
    bits = (bits << 4) | (valueOfHex[uuid.charCodeAt(at)] as number);
    bitCount += 4;
    if (bitCount >= 10) {
      bitCount -= 10;
      id += pairs[bits >> bitCount] as string;
      bits &= (1 << bitCount) - 1;
    }
  }
  return id;
}

/**
 * The UUID of a TypeID, in either case.
 * @throws DaybookError `invalid_id` with `param` when the prefix or the alphabet is wrong.
 */
export function decodeId(prefix: IdPrefix, id: string, param: string): Uuid {
  const uuid = tryDecodeId(prefix, id);
  if (uuid === undefined) {
    const form = `${prefix}_ and 26 base-32 characters such as "${prefix}_01h455vb4pex5vsknk084sn02q"`;
    throw new DaybookError("invalid_id", `\`${param}\` must be an id of the form ${form}.`, { param });
  }
  return uuid;
}

/** The UUID of a TypeID, in either case, or undefined when it is not one of this prefix. */
export function tryDecodeId(prefix: IdPrefix, id: string): Uuid | undefined {
  if (id.length !== prefix.length + 1 + suffixLength) return undefined;
  const lower = id.toLowerCase();
  // Lower-casing may change the length of text that is not ASCII.
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
  return uuid as Uuid;
}

/** Whether a text has the form of a TypeID of any prefix, in lower case. */
export function isId(text: string): boolean {
  return idPattern.test(text);
}
