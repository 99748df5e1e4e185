/** Identifier fields and their native types. */
import { textProblem } from "#shared/json/json.ts";
import { isEmail, isPhone, normalizeValue } from "#shared/values/identifiers.ts";

/** Native types by field, in the order of precedence when several profiles match. */
export const identifierTypes = {
  email: "email",
  phone_number: "phone",
  external_id: "external_id",
  anonymous_id: "anonymous_id",
  _kx: "kx",
} as const;

export type IdentifierField = keyof typeof identifierTypes;

/** The fields in order of precedence. */
export const identifierFields = Object.keys(identifierTypes) as IdentifierField[];

export function fieldOfType(type: string): IdentifierField | undefined {
  return identifierFields.find((field) => identifierTypes[field] === type);
}

const separators = /[\s().\-\u00a0\u2010-\u2015]/g;

/** A phone number in E.164 without separators; undefined if it is not one. */
export function toPhone(text: string): string | undefined {
  const cleaned = text.replaceAll(separators, "");
  return isPhone(cleaned) ? cleaned : undefined;
}

/** The fault of an identifier's value, if any. toPhone checks phone numbers. */
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

/** The normal form of an identifier's value; undefined if it has none. */
export function normalValue(type: string, value: string): string | undefined {
  const normal = normalizeValue(type, value);
  return "reason" in normal ? undefined : normal.text;
}

/** Restores a plus that URL decoding made a space: emails and phone numbers contain no spaces. */
export function restorePlus(field: string, value: string): string {
  if (field === "phone_number") return value.replace(/^ (?=\d)/, "+");
  return field === "email" ? value.trimEnd().replaceAll(" ", "+") : value;
}
