/** Small pieces of JSON text. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { formatTimestamp } from "#shared/values/time.ts";

/** Where what comes through this surface comes from. */
export const apiSource = "api";

/** A text, or `null` without one. */
export function textJson(text: string | undefined): string {
  return text === undefined ? "null" : JSON.stringify(text);
}

/** A time that is always there. */
export function timeText(time: Timestamp | undefined): string {
  if (!time) throw new Error("a time that is always there is missing");
  return formatTimestamp(time);
}

/** The same, as JSON. */
export function timeJson(time: Timestamp | undefined): string {
  return `"${timeText(time)}"`;
}
