import { describe, expect, test } from "vitest";
import { createTrust } from "./addresses.ts";

describe("trusted proxies", () => {
  const isTrusted = createTrust(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"]);

  test.each([
    ["10.1.2.3", true],
    ["::ffff:10.1.2.3", true],
    ["11.0.0.1", false],
    ["192.0.2.7", true],
    ["192.0.2.8", false],
    ["2001:db8:1::1", true],
    ["2001:db9::1", false],
    ["no address", false],
    ["", false],
    [undefined, false],
  ])("%j: %j", (address, expected) => {
    expect(isTrusted(address)).toBe(expected);
  });

  test("are nobody unless they are named", () => {
    expect(createTrust([])("127.0.0.1")).toBe(false);
  });

  test.each(["proxy.example.com", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "2001:db8::/129", "10.0.0/8", "*"])(
    "%j is refused",
    (entry) => {
      expect(() => createTrust(["127.0.0.1", entry])).toThrow(`${entry} is neither an address`);
    },
  );
});
