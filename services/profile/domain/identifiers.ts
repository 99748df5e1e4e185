/** Identifiers: what they are made of, and the form in which two of them are the same. */
import type { FieldError } from "#shared/errors.ts";
import { textProblem } from "#shared/json.ts";

/** An identifier in normal form. */
export interface NormalIdentifier {
  type: string;
  value: string;
}

const typePattern = /^[a-z][a-z0-9_.]*$/;
const typeLengthMax = 64;
const valueLengthMax = 255;
// E.164: at most 15 digits, the first not 0. Shorter than 7 is nobody's number.
const phonePattern = /^\+[1-9]\d{6,14}$/;
const emailPattern = /^[^\s@]+@[^\s@]+$/;

/** Types that are enough to make a profile from, when nobody has the identifier yet. */
const creatingTypes: ReadonlySet<string> = new Set(["email", "phone"]);

/** Whether an event whose identifier nobody has makes a profile. */
export function makesProfile(type: string): boolean {
  return creatingTypes.has(type);
}

/**
 * Brings an identifier into normal form: trimmed, Unicode NFC, an email in lower case.
 * @param param where it stands, for the errors.
 * @returns the identifier, or what is wrong with it.
 */
export function normalizeIdentifier(
  input: { type: string; value: string },
  param: string,
): NormalIdentifier | { errors: FieldError[] } {
  const errors: FieldError[] = [];
  const invalid = (field: "type" | "value", message: string): void => {
    errors.push({ code: "parameter_invalid", message, param: `${param}.${field}` });
  };
  const { type } = input;
  if (!typePattern.test(type) || type.length > typeLengthMax) {
    invalid("type", `A type is a lowercase letter, then up to ${typeLengthMax - 1} of a-z, 0-9, "_" and ".".`);
  }
  const problem = textProblem(input.value);
  if (problem !== undefined) {
    invalid("value", `The value ${problem}.`);
    return { errors };
  }
  const trimmed = input.value.trim().normalize("NFC");
  const value = type === "email" ? trimmed.toLowerCase() : trimmed;
  if (value === "") invalid("value", "The value is empty.");
  else if (value.length > valueLengthMax && Array.from(value).length > valueLengthMax) {
    invalid("value", `A value has at most ${valueLengthMax} characters.`);
  } else if (type === "phone" && !phonePattern.test(value)) {
    invalid("value", "A phone is in E.164 form: a plus, then 7 to 15 digits, the first not 0.");
  } else if (type === "email" && !emailPattern.test(value)) {
    invalid("value", "This is not an email address.");
  }
  return errors.length > 0 ? { errors } : { type, value };
}

/** A key under which equal identifiers meet, for maps. */
export function identifierKey({ type, value }: NormalIdentifier): string {
  return `${type} ${value}`;
}
