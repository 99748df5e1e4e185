/** Rules of rejected writes, which the gateway and the event service share. */
import type { Micros } from "./clock.ts";
import { errorCatalogue, isErrorCode, type ErrorType } from "./errors.ts";
import { lowestUuidAt, newUuid, type Uuid } from "./ids.ts";

/** The most bytes that are kept of what was sent. */
export const payloadBytesMax = 16 * 1024;
/** The most entries that are kept of a group and minute. */
export const keptPerGroupMax = 20;

const paramLengthMax = 200;
const plainName = /^[A-Za-z_$][\w$[\]-]{0,63}$/;
const warningTypes: ReadonlySet<ErrorType> = new Set(["conflict", "idempotency_error", "precondition_failed"]);

/**
 * The field at fault as groups have it: indexes become `*`, so that items with the same fault are one group. A path
 * with a name that is not plain is `*` as a whole, because callers choose such names, and they may be personal.
 * @param param a dotted path, a JSON pointer, or the name of a header or query parameter.
 */
export function groupParam(param: string | null | undefined): string | null {
  if (param === null || param === undefined || param === "") return null;
  if (param.length > paramLengthMax) return "*";
  const separator = param.startsWith("/") ? "/" : ".";
  const names = param.split(separator).map((name) => (/^(?:\d+|\*)$/.test(name) ? "*" : name));
  return names.every((name) => name === "" || name === "*" || plainName.test(name)) ? names.join(separator) : "*";
}

/** A refusal is a warning if the same request can succeed, or if the write was in conflict with another. */
export function isWarning(code: string): boolean {
  if (!isErrorCode(code) || code === "internal_error") return false;
  const { type, ...entry } = errorCatalogue[code];
  return warningTypes.has(type) || "retryable" in entry;
}

/** Cuts UTF-8 text to a number of bytes, at a character. */
export function cutText(bytes: Buffer, bytesMax: number): Buffer {
  if (bytes.length <= bytesMax) return bytes;
  let end = bytesMax;
  // A byte 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

/** A UUIDv7 of a time, so that the order of entries is that of their times also where the clock is not the system's. */
export function rejectionIdAt(time: Micros): Uuid {
  return `${lowestUuidAt(Math.floor(time / 1000)).slice(0, 13)}${newUuid().slice(13)}` as Uuid;
}
