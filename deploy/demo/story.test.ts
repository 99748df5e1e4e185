import { expect, test } from "vitest";
import { blackFriday, clockAhead, dayMs, visitsByDay } from "./calendar.ts";
import { makePlan, phasesOf } from "./steps.ts";

const start = Date.UTC(2025, 5, 1);
const day = (text: string): number => (Date.parse(text) - start) / dayMs;

test("Black Friday is the day after the fourth Thursday of November", () => {
  const days = [2023, 2024, 2025, 2026].map((year) => new Date(blackFriday(year)).toISOString().slice(5, 10));
  expect(days).toEqual(["11-24", "11-29", "11-28", "11-27"]);
});

test("visits are shared out over the days to the last one, however few they are", () => {
  for (const total of [0, 1, 29, 5000]) {
    for (const days of [1, 7, 365]) {
      const visits = visitsByDay(start, days, total);
      expect(visits).toHaveLength(days);
      expect(visits.reduce((sum, count) => sum + count, 0)).toBe(total);
      expect(Math.min(...visits)).toBeGreaterThanOrEqual(0);
    }
  }
});

test("a year has weeks, a summer, a Black Friday, a Christmas, and growth", () => {
  const visits = visitsByDay(start, 365, 100_000);
  const of = (text: string): number => visits[day(text)] ?? 0;
  // A Sunday and the Friday before it.
  expect(of("2025-10-12")).toBeGreaterThan(1.4 * of("2025-10-10"));
  expect(of("2025-11-28")).toBeGreaterThan(2.5 * of("2025-11-21"));
  expect(of("2025-12-15")).toBeGreaterThan(1.4 * of("2025-11-10"));
  expect(of("2025-12-25")).toBeLessThan(0.5 * of("2025-12-18"));
  expect(of("2025-08-10")).toBeLessThan(0.8 * of("2025-09-14"));
  expect(of("2026-05-24")).toBeGreaterThan(1.5 * of("2025-06-01"));
});

test("hours are those of the customers' clocks, in summer too", () => {
  expect(clockAhead(Date.UTC(2026, 0, 15), "Europe/Berlin")).toBe(3_600_000);
  expect(clockAhead(Date.UTC(2026, 6, 15), "Europe/Berlin")).toBe(7_200_000);
  expect(clockAhead(Date.UTC(2026, 0, 15), "Europe/London")).toBe(0);
  expect(clockAhead(Date.UTC(2026, 0, 15), "America/New_York")).toBe(-18_000_000);
});

test("a story told again is the same, and no two of its people share an identifier", async () => {
  const settings = { seed: 7, people: 1500, days: 30, untilMs: Date.UTC(2026, 5, 30, 15) };
  const [one, other] = [0, 1].map(() => makePlan(settings, new AbortController().signal));
  const plan = (await one) ?? expect.fail();
  expect((await other)?.eventsByType).toEqual(plan.eventsByType);
  expect((await other)?.people).toEqual(plan.people);
  const identifiers = plan.people.flatMap(({ email, otherEmail, phone, externalId, anonymousId }) =>
    [email, otherEmail, phone, externalId, anonymousId].filter((value) => value !== undefined),
  );
  expect(new Set(identifiers).size).toBe(identifiers.length);
  const emails = identifiers.filter((value) => value.includes("@"));
  expect(emails.filter((email) => !/^[a-z0-9.]+@(?:\w+\.)?example\.(?:com|net|org)$/.test(email))).toEqual([]);
  // Ranges that regulators keep for films and books.
  const kept = /^\+(?:493023125\d{3}|3363998\d{4}|447700900\d{3}|161755501\d\d)$/;
  const phones = plan.people.flatMap(({ phone }) => phone ?? []);
  expect(phones.length).toBeGreaterThan(150);
  expect(phones.filter((phone) => !kept.test(phone))).toEqual([]);
  const steps = phasesOf(plan).flatMap((phase) => [...phase.steps()]);
  const events = plan.eventsByType.values().reduce((sum, count) => sum + count, 0);
  expect(steps.reduce((sum, { units }) => sum + units, 0)).toBe(
    events + plan.profiles + 2 * plan.merges + plan.refused,
  );
});
