/** Rules of identifiers, and their normal form. */
import type { FieldError } from "./errors.ts";
import { textProblem } from "../json/json.ts";
import { normalizeText } from "./text.ts";
import { mismatch, quoteName, unkeepable, whatCame } from "./wording.ts";

/** An identifier in normal form. */
export interface NormalIdentifier {
  type: string;
  value: string;
}

/** An identifier to be written. */
export interface WantedIdentifier extends NormalIdentifier {
  isPrimary: boolean;
}

export const typePattern = /^[a-z][a-z0-9_.]*$/;
/** The most characters of a type. */
export const typeLengthMax = 64;
/** The most characters of a value. */
export const valueLengthMax = 255;

/** The most identifiers of one write. */
export const identifiersPerWriteMax = 100;
/** The most identifiers of a profile. */
export const identifiersPerProfileMax = 1000;
// E.164: at most 15 digits, the first not 0. No number has fewer than 7.
const phonePattern = /^\+[1-9]\d{6,14}$/;
const emailPattern = /^[^\s@]+@[^\s@]+$/;

/** Whether a text is an email address. */
export function isEmail(text: string): boolean {
  return emailPattern.test(text);
}

/** Whether a text is a phone number in E.164 form. */
export function isPhone(text: string): boolean {
  return phonePattern.test(text);
}

/** Normalises a value, so that equal identifiers have equal texts: trimmed, Unicode NFC, an email in lower case. */
export function normalizeValue(type: unknown, text: string): { text: string } | { reason: string } {
  const normal = normalizeText(text.trim(), valueLengthMax);
  if ("reason" in normal) return normal;
  return { text: type === "email" ? normal.text.toLowerCase() : normal.text };
}

/** Types of identifiers that create a profile when no profile has the identifier yet. */
const creatingTypes: ReadonlySet<string> = new Set(["email", "phone"]);

/** Whether an event creates a profile when no profile has its identifier. */
export function makesProfile(type: string): boolean {
  return creatingTypes.has(type);
}

/** The expected form of the fields of an identifier, for messages. */
export const identifierExpected = {
  type:
    `an identifier type such as "email", "phone" or "external_id": a lowercase letter, ` +
    `then up to ${typeLengthMax - 1} of a-z, 0-9, "_" and "."`,
  value: `a text of 1 to ${valueLengthMax} characters`,
} as const;

const emailExpected = 'an email address such as "ada@example.com"';
const phoneExpected =
  'a phone number in E.164 form such as "+351910000123": a plus, then 7 to 15 digits, the first not 0';

/** The expected form of a value of a type, for messages. */
export function valueExpected(type: unknown): string {
  if (type === "email") return emailExpected;
  return type === "phone" ? phoneExpected : identifierExpected.value;
}

/** Finds the fault of a type. @param param the name of the field. */
export function findTypeFault(type: string, param: string): FieldError | undefined {
  const isType = type.length <= typeLengthMax && typePattern.test(type);
  return isType ? undefined : mismatch(param, identifierExpected.type, type, { quoted: true });
}

/**
 * Normalises a value, as normalizeValue does, and checks it.
 * @param type the type of the value; an unknown one is treated as a custom type.
 * @param param the name of the field. Messages never quote the value, because it is personal.
 */
export function readValue(type: unknown, text: string, param: string): { value: string } | { error: FieldError } {
  const problem = textProblem(text);
  if (problem !== undefined) return { error: unkeepable(param, problem) };
  const normal = normalizeValue(type, text);
  if ("reason" in normal) {
    const rule = normal.reason.replace(/^has/, "must have");
    const message = `${quoteName(param)} ${rule}; got ${whatCame(text)}.`;
    return { error: { code: "parameter_invalid", message, param } };
  }
  const value = normal.text;
  const isValue = value !== "" && (type !== "phone" || isPhone(value)) && (type !== "email" || isEmail(value));
  if (isValue) return { value };
  const { message } = mismatch(param, valueExpected(type), text);
  // The text has characters, but all are white space.
  const isBlank = value === "" && text !== "";
  return {
    error: {
      code: "parameter_invalid",
      message: isBlank ? message.replace(/got .*$/, "got a blank text.") : message,
      param,
    },
  };
}

/**
 * Normalises an identifier.
 * @param param the path of the identifier, for faults.
 * @returns the identifier, or its faults.
 */
export function normalizeIdentifier(
  { type, value }: { type: string; value: string },
  param: string,
): NormalIdentifier | { errors: FieldError[] } {
  const fault = findTypeFault(type, `${param}.type`);
  const reading = readValue(type, value, `${param}.value`);
  if (!fault && "value" in reading) return { type, value: reading.value };
  return { errors: [...(fault ? [fault] : []), ...("error" in reading ? [reading.error] : [])] };
}

/** Finds repeated identifiers, and second primary ones of a type. @param root the path of the list. */
export function findRepeats(
  identifiers: readonly (WantedIdentifier | undefined)[],
  root: string,
): { errors: FieldError[]; wanted: Map<string, WantedIdentifier> } {
  const errors: FieldError[] = [];
  const wanted = new Map<string, WantedIdentifier>();
  const primaries = new Set<string>();
  for (const [index, identifier] of identifiers.entries()) {
    if (!identifier) continue;
    const param = `${root}.${index}`;
    const key = identifierKey(identifier);
    if (wanted.has(key)) {
      const message = `${quoteName(param)} repeats an identifier of the list. Send each identifier once.`;
      errors.push({ code: "parameter_invalid", message, param });
    } else if (identifier.isPrimary && primaries.has(identifier.type)) {
      const field = `${param}.is_primary`;
      const fault = `marks a second identifier of the type "${identifier.type}" as primary`;
      const message = `${quoteName(field)} ${fault}. Mark one of each type.`;
      errors.push({ code: "parameter_conflict", message, param: field });
    }
    if (identifier.isPrimary) primaries.add(identifier.type);
    wanted.set(key, identifier);
  }
  return { errors, wanted };
}

/**
 * Normalises the identifiers of a write.
 * @param faults collects every field at fault, with those of findRepeats.
 * @param root the path of the list.
 */
export function readIdentifiers(
  inputs: readonly { type: string; value: string; isPrimary: boolean }[],
  faults: FieldError[],
  root = "identifiers",
): WantedIdentifier[] {
  const readings = inputs.map((input, index) => normalizeIdentifier(input, `${root}.${index}`));
  const identifiers = readings.map((reading, index) =>
    "errors" in reading ? undefined : { ...reading, isPrimary: inputs[index]?.isPrimary === true },
  );
  const { errors, wanted } = findRepeats(identifiers, root);
  faults.push(...readings.flatMap((reading) => ("errors" in reading ? reading.errors : [])), ...errors);
  return [...wanted.values()];
}

/** A map key that equal identifiers share. */
export function identifierKey({ type, value }: NormalIdentifier): string {
  return `${type} ${value}`;
}
