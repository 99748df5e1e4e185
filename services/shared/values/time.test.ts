import fc from "fast-check";
import { expect, test } from "vitest";
import { formatMicros, fromTimestamp, parseDateTime, toTimestamp } from "./time.ts";

const micros = fc.maxSafeInteger();

test("microseconds go through text and protobuf unharmed", () => {
  fc.assert(
    fc.property(micros, (time) => {
      expect(parseDateTime(formatMicros(time))).toBe(time);
      expect(fromTimestamp(toTimestamp(time))).toBe(time);
    }),
  );
});

test("reads offsets as Date does", () => {
  const offset = fc.tuple(fc.constantFrom("+", "-"), fc.nat(23), fc.nat(59)).map(([sign, hours, minutes]) => {
    return `${sign}${String(hours).padStart(2, "0")}:${String(minutes).padStart(2, "0")}`;
  });
  fc.assert(
    fc.property(
      fc.date({ min: new Date(0), max: new Date("2250-01-01"), noInvalidDate: true }),
      offset,
      (date, zone) => {
        const text = `${date.toISOString().slice(0, -1)}${zone}`;
        expect(parseDateTime(text)).toBe(Date.parse(text) * 1000);
      },
    ),
  );
});

test.each([
  ["2026-05-01T12:00:00.123456789Z", "2026-05-01T12:00:00.123456Z"],
  ["2026-05-01t12:00z", "2026-05-01T12:00:00.000000Z"],
  ["2026-05-01T12:00:00,5+0200", "2026-05-01T10:00:00.500000Z"],
  ["2026-05-01T12:00:00-03", "2026-05-01T15:00:00.000000Z"],
  ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000Z"],
  ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"],
])("%s is %s", (text, expected) => {
  expect(formatMicros(parseDateTime(text) ?? Number.NaN)).toBe(expected);
});

test.each([
  "2026-05-01T12:00:00",
  "2026-05-01 12:00:00Z",
  "2026-05-01",
  "2026-02-29T00:00:00Z",
  "1900-02-29T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-05-01T24:00:00Z",
  "2026-05-01T12:60:00Z",
  "2026-05-01T12:00:61Z",
  "2026-05-01T12:00:00+24:00",
  "20260501T120000Z",
  "now",
  "",
])("%s is no date-time", (text) => {
  expect(parseDateTime(text)).toBeUndefined();
});
