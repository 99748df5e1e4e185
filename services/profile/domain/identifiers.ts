/** Identifiers: what they are made of, and the form in which two of them are the same. */
import { DaybookError, type FieldError } from "#shared/errors.ts";
import { textProblem } from "#shared/json.ts";

/** An identifier in normal form. */
export interface NormalIdentifier {
  type: string;
  value: string;
}

/** An identifier as it is to be written. */
export interface WantedIdentifier extends NormalIdentifier {
  isPrimary: boolean;
}

const typePattern = /^[a-z][a-z0-9_.]*$/;
const typeLengthMax = 64;
const valueLengthMax = 255;

/** How many identifiers one write may name. */
export const identifiersPerWriteMax = 100;
/** How many a profile may have, unless they came by a merge. */
export const identifiersPerProfileMax = 1000;
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

/**
 * Brings the identifiers of a write into normal form.
 * @param root names the list.
 * @throws DaybookError with every field at fault, among them an identifier that stands there twice and a second primary one of a type.
 */
export function readIdentifiers(
  inputs: readonly { type: string; value: string; isPrimary: boolean }[],
  root = "identifiers",
): WantedIdentifier[] {
  const errors: FieldError[] = [];
  const wanted = new Map<string, WantedIdentifier>();
  const primaries = new Set<string>();
  for (const [index, input] of inputs.entries()) {
    const param = `${root}.${index}`;
    const identifier = normalizeIdentifier(input, param);
    if ("errors" in identifier) {
      errors.push(...identifier.errors);
      continue;
    }
    const key = identifierKey(identifier);
    if (wanted.has(key)) {
      errors.push({ code: "parameter_invalid", message: "The same identifier stands here twice.", param });
    } else if (input.isPrimary && primaries.has(identifier.type)) {
      const message = `Two identifiers of type ${identifier.type} are marked as primary.`;
      errors.push({ code: "parameter_conflict", message, param: `${param}.is_primary` });
    }
    if (input.isPrimary) primaries.add(identifier.type);
    wanted.set(key, { ...identifier, isPrimary: input.isPrimary });
  }
  if (errors.length > 0) throw DaybookError.ofFields(errors);
  return [...wanted.values()];
}

/** A key under which equal identifiers meet, for maps. */
export function identifierKey({ type, value }: NormalIdentifier): string {
  return `${type} ${value}`;
}
