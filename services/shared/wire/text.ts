/** Parts of the native JSON of every resource. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { formatTimestamp } from "../values/time.ts";

export function textJson(text: string | undefined): string {
  return text === undefined ? "null" : JSON.stringify(text);
}

/** @throws Error without a time, which every resource has */
export function timeText(time: Timestamp | undefined): string {
  if (!time) throw new Error("a time that is always there is missing");
  return formatTimestamp(time);
}

export function timeJson(time: Timestamp | undefined): string {
  return `"${timeText(time)}"`;
}

export function timeOrNull(time: Timestamp | undefined): string | null {
  return time ? formatTimestamp(time) : null;
}
