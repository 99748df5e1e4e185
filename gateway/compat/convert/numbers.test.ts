import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "#shared/json/json.ts";
import { toDecimal, toNumber } from "./numbers.ts";

test.each([
  ["0", "0"],
  ["-0", "0"],
  ["1e14", "100000000000000"],
  ["-1.50", "-1.5"],
  ["1E-8", "0.00000001"],
  ["1e-9", "0"],
  ["5e-9", "0.00000001"],
  ["59.970000000000006", "59.97"],
  ["0.30000000000000004", "0.3"],
  ["999999999999999999.99999999", "999999999999999999.99999999"],
  ["123456789012345678", "123456789012345678"],
])("%s is %s", (text, decimal) => {
  expect(toDecimal(parseJson(text))).toBe(decimal);
});

test.each(["1e18", "-1e18", "1e999", "1234567890123456789", "1e99999"])("%s is too large", (text) => {
  expect(toDecimal(parseJson(text))).toBeUndefined();
});

test.each([[null], [true], [{}], [[]], [""], ["much"], ["1,5"], ["0x10"], ["Infinity"]])("%j is no number", (value) => {
  expect(toDecimal(value)).toBeUndefined();
});

test("every amount comes out as it was written, and back", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 26n) + 1n, max: 10n ** 26n - 1n }), (scaled) => {
      const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(9, "0");
      const text = `${scaled < 0n ? "-" : ""}${digits.slice(0, -8)}.${digits.slice(-8)}`;
      const shortest = text.replace(/\.?0+$/, "");
      const decimal = shortest === "-0" ? "0" : shortest;
      expect(toDecimal(parseJson(text))).toBe(decimal);
      expect(toDecimal(toNumber(decimal))).toBe(decimal);
    }),
  );
});
