/** What profiles are known by: the fields that are identifiers here, and their native types. */
import { textProblem } from "#shared/json.ts";
import { normalizeText } from "#shared/text.ts";

/** Fields that are identifiers, in the order in which they decide whose a profile is, and their native types. */
export const identifierTypes = {
  email: "email",
  phone_number: "phone",
  external_id: "external_id",
  anonymous_id: "anonymous_id",
  _kx: "kx",
} as const;

/** One of the fields. */
export type IdentifierField = keyof typeof identifierTypes;

/** The fields, in order. */
export const identifierFields = Object.keys(identifierTypes) as IdentifierField[];

/** The field of a native type. */
export function fieldOfType(type: string): IdentifierField | undefined {
  return identifierFields.find((field) => identifierTypes[field] === type);
}

const lengthMax = 255;
const emailPattern = /^[^\s@]+@[^\s@]+$/;
// E.164, as the profile service has it.
const phonePattern = /^\+[1-9]\d{6,14}$/;
const separators = /[\s().\-\u00a0\u2010-\u2015]/g;

/** A phone number in E.164, without the separators that people write; undefined when it is none. */
export function toPhone(text: string): string | undefined {
  const cleaned = text.replaceAll(separators, "");
  return phonePattern.test(cleaned) ? cleaned : undefined;
}

/** What is wrong with the value of an identifier, if anything is. Phones are looked at by toPhone. */
export function identifierProblem(field: IdentifierField, value: string): string | undefined {
  const problem = textProblem(value);
  if (problem !== undefined) return `The ${field} ${problem}.`;
  const trimmed = value.trim();
  if (trimmed === "") return `The ${field} is empty.`;
  const normal = normalizeText(trimmed, lengthMax);
  if ("reason" in normal) return `The ${field} ${normal.reason}.`;
  if (field === "email" && !emailPattern.test(trimmed)) return "Invalid email address";
  return undefined;
}

/** The value of an identifier as it is kept; undefined when identifierProblem refuses it. */
export function normalValue(type: string, value: string): string | undefined {
  const normal = normalizeText(value.trim(), lengthMax);
  if ("reason" in normal) return undefined;
  return type === identifierTypes.email ? normal.text.toLowerCase() : normal.text;
}

/** A plus that arrived as a space is read back: neither emails nor phone numbers have spaces within. */
export function restorePlus(field: string, value: string): string {
  if (field === "phone_number") return value.replace(/^ (?=\d)/, "+");
  return field === "email" ? value.trimEnd().replaceAll(" ", "+") : value;
}
