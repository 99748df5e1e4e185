/** What profiles are known by: the fields that are identifiers here, and their native types. */
import { textProblem } from "#shared/json/json.ts";
import { isEmail, isPhone, normalizeValue } from "#shared/values/identifiers.ts";

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

const separators = /[\s().\-\u00a0\u2010-\u2015]/g;

/** A phone number in E.164, without the separators that people write; undefined when it is none. */
export function toPhone(text: string): string | undefined {
  const cleaned = text.replaceAll(separators, "");
  return isPhone(cleaned) ? cleaned : undefined;
}

/** What is wrong with the value of an identifier, if anything is. Phones are looked at by toPhone. */
export function identifierProblem(field: IdentifierField, value: string): string | undefined {
  const problem = textProblem(value);
  if (problem !== undefined) return `The ${field} ${problem}.`;
  const trimmed = value.trim();
  if (trimmed === "") return `The ${field} is empty.`;
  const normal = normalizeValue(identifierTypes[field], trimmed);
  if ("reason" in normal) return `The ${field} ${normal.reason}.`;
  if (field === "email" && !isEmail(normal.text)) return "Invalid email address";
  return undefined;
}

/** The value of an identifier as it is kept; undefined when identifierProblem refuses it. */
export function normalValue(type: string, value: string): string | undefined {
  const normal = normalizeValue(type, value);
  return "reason" in normal ? undefined : normal.text;
}

/** A plus that arrived as a space is read back: neither emails nor phone numbers have spaces within. */
export function restorePlus(field: string, value: string): string {
  if (field === "phone_number") return value.replace(/^ (?=\d)/, "+");
  return field === "email" ? value.trimEnd().replaceAll(" ", "+") : value;
}
