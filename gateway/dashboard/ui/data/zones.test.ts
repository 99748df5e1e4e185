import { expect, test } from "vitest";
import { civilOf, type Interval, startOf } from "./zones.ts";

const zones = ["UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Asia/Kathmandu", "Pacific/Apia"];
const intervals: readonly Interval[] = ["hour", "day", "week", "month"];

test("every instant of four years lies in one interval, which begins at a civil boundary and ends where the next begins", () => {
  const steps = (4 * 366 * 24) / 97;
  for (const zone of zones) {
    for (const interval of intervals) {
      for (let step = 0; step < steps; step++) {
        const at = new Date(Date.UTC(2024, 0, 1) + step * 97 * 3_600_000 + 1_234_567);
        const start = startOf(interval, at, zone);
        const next = startOf(interval, at, zone, 1);
        const place = `${zone} ${interval} ${at.toISOString()}`;
        expect([place, start <= at, next > at]).toEqual([place, true, true]);
        expect([place, startOf(interval, next, zone)]).toEqual([place, next]);
        expect([place, startOf(interval, new Date(next.getTime() - 1000), zone)]).toEqual([place, start]);
        const civil = civilOf(start, zone);
        if (interval === "week") expect([place, civil.getUTCDay()]).toEqual([place, 1]);
        if (interval === "month") expect([place, civil.getUTCDate()]).toEqual([place, 1]);
      }
    }
  }
});

test("a day has 23 and 25 hours when clocks change, and begins later where its midnight is skipped", () => {
  const hoursOf = (day: string, zone: string): number => {
    const at = new Date(`${day}T12:00:00Z`);
    return (startOf("day", at, zone, 1).getTime() - startOf("day", at, zone).getTime()) / 3_600_000;
  };
  expect(hoursOf("2026-03-29", "Europe/Berlin")).toBe(23);
  expect(hoursOf("2026-10-25", "Europe/Berlin")).toBe(25);
  // In Santiago clocks go from 00:00 to 01:00.
  expect(startOf("day", new Date("2026-09-06T12:00:00Z"), "America/Santiago").toISOString()).toBe(
    "2026-09-06T04:00:00.000Z",
  );
});
