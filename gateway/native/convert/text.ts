import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { formatTimestamp } from "#shared/values/time.ts";

/** The source of everything that this surface writes. */
export const apiSource = "api";

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
