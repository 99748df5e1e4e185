/** Defaults of a property for currency and time zone. */
import { DaybookError, type FieldError } from "#shared/values/errors.ts";
import { isCurrency } from "#shared/values/money.ts";
import { findTimezone } from "#shared/values/places.ts";

/** Null keeps the stored or default value. */
export interface PropertySettings {
  /** Three upper-case letters. */
  defaultCurrency: string | null;
  /** IANA name. */
  timezone: string | null;
}

/**
 * Validates and normalizes settings.
 * @throws DaybookError with every field at fault.
 */
export function readSettings(given: { defaultCurrency?: string; timezone?: string }): PropertySettings {
  const errors: FieldError[] = [];
  const note = (param: string, message: string): void => {
    errors.push({ code: "parameter_invalid", message, param });
  };
  if (given.defaultCurrency !== undefined && !isCurrency(given.defaultCurrency)) {
    note("default_currency", "A currency is three letters, such as EUR.");
  }
  const timezone = given.timezone === undefined ? null : findTimezone(given.timezone);
  if (timezone === undefined)
    note("timezone", '`timezone` must be the name of an IANA time zone such as "Europe/Lisbon".');
  if (errors.length > 0) throw DaybookError.ofFields(errors);
  return { defaultCurrency: given.defaultCurrency?.toUpperCase() ?? null, timezone: timezone ?? null };
}
