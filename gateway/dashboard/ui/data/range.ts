/** Ranges of time in the URL: a preset such as `24h` that moves with the clock, or two instants. */
import type { Reader } from "./search.ts";

export const presets = {
  "1h": { title: "Last hour", ms: 3_600_000 },
  "24h": { title: "Last 24 hours", ms: 86_400_000 },
  "7d": { title: "Last 7 days", ms: 7 * 86_400_000 },
  "30d": { title: "Last 30 days", ms: 30 * 86_400_000 },
  "90d": { title: "Last 90 days", ms: 90 * 86_400_000 },
  "1y": { title: "Last year", ms: 365 * 86_400_000 },
} as const;

export type Preset = keyof typeof presets;

export interface Range {
  from: Date;
  /** Not part of it. */
  to: Date;
}

const isPreset = (given: string): given is Preset => Object.hasOwn(presets, given);

/** Reads `24h`, or `2026-11-01T00:00Z~2026-11-08T00:00Z`. */
export const rangeText: Reader<string> = (given) => (readCustom(given) || isPreset(given) ? given : undefined);

function readCustom(given: string): Range | undefined {
  const [from, to, more] = given.split("~");
  if (from === undefined || to === undefined || more !== undefined) return undefined;
  const range = { from: new Date(from), to: new Date(to) };
  return range.from.getTime() < range.to.getTime() ? range : undefined;
}

/** What a text of the URL means at an instant. */
export function rangeAt(given: string, now: Date): Range {
  const custom = readCustom(given);
  if (custom) return custom;
  const { ms } = presets[isPreset(given) ? given : "24h"];
  return { from: new Date(now.getTime() - ms), to: now };
}

export function customRange({ from, to }: Range): string {
  const short = (at: Date): string => at.toISOString().replace(/(:00)?\.000Z$/, "Z");
  return `${short(from)}~${short(to)}`;
}

/** In words, for buttons and headings. Empty text is no range at all. */
export function rangeTitle(given: string): string {
  if (given === "") return "Any time";
  if (isPreset(given)) return presets[given].title;
  const custom = readCustom(given);
  if (!custom) return presets["24h"].title;
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  return format.formatRange(custom.from, custom.to);
}
