import { expect, test } from "vitest";
import { checkFaults, type FieldError } from "#shared/values/errors.ts";
import { changeLocation as collectChange, type LocationChanges, type StoredLocation } from "./location.ts";

function changeLocation(current: StoredLocation | null, changes: LocationChanges): StoredLocation | null {
  const faults: FieldError[] = [];
  const changed = collectChange(current, changes, faults);
  checkFaults(faults);
  return changed;
}

test("fields sent replace those fields, null empties one, the others stay", () => {
  const current = { city: "Berlin", country: "DE" };
  expect(changeLocation(current, { city: null, zip: "10115" })).toEqual({ country: "DE", zip: "10115" });
  expect(changeLocation(current, {})).toEqual(current);
  expect(changeLocation(current, { city: null, country: null })).toBeNull();
  expect(changeLocation(null, {})).toBeNull();
});

test.each(["DE", "XX", "UK", "EU", "AN", "de", "D", "ZZ"])(
  "country %s is real only if ISO 3166-1 assigns it",
  (country) => {
    const change = () => changeLocation(null, { country });
    if (country === "DE") expect(change()).toEqual({ country });
    else expect(change).toThrow(expect.objectContaining({ param: "location.country" }));
  },
);

test.each(["Europe/Berlin", "America/Argentina/Buenos_Aires", "UTC", "Asia/Kolkata", "Asia/Calcutta"])(
  "%s is a time zone",
  (timezone) => {
    expect(changeLocation(null, { timezone })).toEqual({ timezone });
  },
);

test("a time zone is kept in its real case", () => {
  expect(changeLocation(null, { timezone: "europe/BERLIN" })).toEqual({ timezone: "Europe/Berlin" });
});

test("every field at fault is named", () => {
  const change = () => changeLocation(null, { city: "x".repeat(256), timezone: "Mars", zip: "\0" });
  expect(change).toThrow(
    expect.objectContaining({
      errors: [
        expect.objectContaining({ param: "location.city" }),
        expect.objectContaining({ param: "location.timezone" }),
        expect.objectContaining({ param: "location.zip" }),
      ],
    }),
  );
});
