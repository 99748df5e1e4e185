import fc from "fast-check";
import { expect, test } from "vitest";
import { readMoney } from "./money.ts";

test("a decimal keeps its value and its digits behind the point", () => {
  const whole = fc.stringMatching(/^\d{1,18}$/);
  const fraction = fc.option(fc.stringMatching(/^\d{1,8}$/), { nil: undefined });
  fc.assert(
    fc.property(fc.boolean(), whole, fraction, (isNegative, digits, behind) => {
      const text = `${isNegative ? "-" : ""}${digits}${behind === undefined ? "" : `.${behind}`}`;
      const result = readMoney(text, "eur");
      if (!("money" in result) || !result.money) throw new Error("refused");
      expect(result.money.currency).toBe("EUR");
      expect(scaled(result.money.value)).toBe(scaled(text));
      expect(result.money.value.split(".")[1]).toBe(behind);
      expect(result.money.value).toMatch(/^-?(0|[1-9]\d*)(\.\d+)?$/);
      expect(result.money.value).not.toMatch(/^-0(\.0*)?$/);
    }),
  );
});

/** The number in units of 10⁻⁸, exactly. */
function scaled(text: string): bigint {
  const [whole = "", behind = ""] = text.replace("-", "").split(".");
  return (text.startsWith("-") ? -1n : 1n) * BigInt(whole + behind.padEnd(8, "0"));
}

test.each(["", "1.", ".5", "+1", "1e3", "0x1", "1,5", "NaN", " 1", "1".repeat(19), "1.123456789", "١"])(
  "%j is no value",
  (value) => {
    expect(readMoney(value, "EUR")).toMatchObject({ errors: [{ code: "parameter_invalid", param: "value" }] });
  },
);

test("value and currency stand together or not at all", () => {
  expect(readMoney(undefined, undefined)).toEqual({ money: undefined });
  expect(readMoney("1", undefined)).toMatchObject({ errors: [{ code: "parameter_missing", param: "currency" }] });
  expect(readMoney(undefined, "EUR")).toMatchObject({ errors: [{ code: "parameter_missing", param: "value" }] });
  expect(readMoney("x", "E")).toMatchObject({ errors: [{ param: "value" }, { param: "currency" }] });
});
