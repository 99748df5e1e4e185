/**
 * Finds what is wrong with a body: its shape, as its schema has it, and its content, as the rules at its schema have it. Both in one pass in the
 * order of the document, which stops at the 20th fault: a large body costs no more than what is read of it. TypeBox has a walk of its own for
 * shapes, but it goes by the order of the schema, walks all of the body however many errors it has found, and tells of each form of a union.
 */
import type Type from "typebox";
import { fieldErrorsMax, type FieldError } from "#shared/values/errors.ts";
import { isJsonObject, textProblem, type JsonObject, type JsonValue } from "#shared/json/json.ts";
import { count } from "#shared/values/count.ts";
import { isLongerThan } from "#shared/values/text.ts";
import { joinParam, listed, mismatch, missing, quoteName, unkeepable, whatCame } from "#shared/values/wording.ts";
import { opaque, rule, type Rule } from "./field-rules.ts";
import { unknownField } from "./unknown-fields.ts";

/** What is read of a schema: the words of JSON Schema that the bodies use. */
interface Schema {
  [rule]?: Rule;
  [opaque]?: true;
  type?: string;
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  minProperties?: number;
  maxProperties?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
}

/** Every fault of a body, at most 20, in the order of the document. The root has no param. */
export function findBodyFaults(schema: Type.TSchema, body: unknown): FieldError[] {
  const faults: FieldError[] = [];
  walk(schema, body, "", faults);
  return faults.slice(0, fieldErrorsMax).map((fault) => (fault.param === "" ? { ...fault, param: null } : fault));
}

function walk(schema: Schema, value: unknown, param: string, faults: FieldError[]): void {
  if (schema.anyOf) return walkForms(schema, schema.anyOf, value, param, faults);
  if (!isOfType(schema, value)) {
    faults.push(wrongType(schema, value, param));
    return;
  }
  const problem = typeof value === "string" ? textProblem(value) : undefined;
  if (problem !== undefined) {
    faults.push(unkeepable(param, problem));
    return;
  }
  const own = schema[rule]?.check?.(value as JsonValue, param) ?? [];
  if (schema[opaque]) {
    faults.push(...countFaults(schema, value, param), ...own);
  } else if (Array.isArray(value)) walkList(schema, value, param, faults, own);
  else if (isJsonObject(value)) walkObject(schema, value, param, faults, own);
  else if (own.length > 0) faults.push(...own);
  else if (typeof value === "string") faults.push(...textFaults(schema, value, param));
}

/** A union: one of several texts, or the form that is of the type of what came. */
function walkForms(schema: Schema, forms: Schema[], value: unknown, param: string, faults: FieldError[]): void {
  const form = forms.find((one) => isOfType(one, value));
  if (form) return walk(form, value, param, faults);
  const expected = schema[rule]?.expected ?? expectedOfForms(forms);
  const quoted = forms.some((one) => one.const !== undefined || one[rule]?.quoted);
  faults.push(mismatch(param, expected, value, { quoted }));
}

function expectedOfForms(forms: readonly Schema[]): string {
  const choices = forms.flatMap((form) => (form.const === undefined ? [] : [JSON.stringify(form.const)]));
  // Null is taken so that what was read can be sent again: it is no value to look for.
  const others = forms.flatMap((form) => (form.const === undefined && form.type !== "null" ? [expectedOf(form)] : []));
  if (choices.length < 2) return listed([...choices, ...others], "or");
  return [`one of ${listed(choices, "or")}`, ...others].join(", or ");
}

const typeWords: Readonly<Record<string, string>> = {
  object: "an object",
  array: "a list",
  string: "a text",
  boolean: "true or false",
  null: "null",
};

function expectedOf(schema: Schema): string {
  if (schema.anyOf) return expectedOfForms(schema.anyOf);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  return schema[rule]?.expected ?? typeWords[schema.type ?? ""] ?? "any JSON";
}

function isOfType({ type, const: only, anyOf }: Schema, value: unknown): boolean {
  if (anyOf) return anyOf.some((form) => isOfType(form, value));
  if (only !== undefined) return value === only;
  if (type === undefined) return true;
  if (type === "object") return isJsonObject(value);
  if (type === "array") return Array.isArray(value);
  return type === "null" ? value === null : typeof value === type;
}

function wrongType(schema: Schema, value: unknown, param: string): FieldError {
  if (param !== "") return mismatch(param, expectedOf(schema), value, { quoted: schema[rule]?.quoted === true });
  return { code: "parameter_invalid", message: rootMessage(schema, value), param };
}

/** Of a body that is no object. Whoever sends a list of items forgot to name it. */
function rootMessage({ properties = {} }: Schema, value: unknown): string {
  const list = Object.keys(properties).find((name) => properties[name]?.type === "array");
  const hint =
    Array.isArray(value) && list !== undefined ? ` Send the list in ${quoteName(list)}: {"${list}": […]}.` : "";
  return `The body must be a JSON object; got ${whatCame(value)}.${hint}`;
}

/** Counts come first: what is too many is not looked at. */
function countFaults(
  { minItems, maxItems, minProperties, maxProperties }: Schema,
  value: unknown,
  param: string,
): FieldError[] {
  if (Array.isArray(value)) return sizeFaults(value.length, { min: minItems, max: maxItems }, "item", param);
  if (!isJsonObject(value) || (minProperties ?? maxProperties) === undefined) return [];
  return sizeFaults(Object.keys(value).length, { min: minProperties, max: maxProperties }, "field", param);
}

function sizeFaults(
  size: number,
  { min = 0, max = Number.POSITIVE_INFINITY }: { min?: number | undefined; max?: number | undefined },
  unit: string,
  param: string,
): FieldError[] {
  const name = param === "" ? "The body" : quoteName(param);
  const units = (number: number): string => `${count(number)} ${unit}${number === 1 ? "" : "s"}`;
  if (size < min) {
    return [
      {
        code: "parameter_missing",
        message: `${name} must have at least ${units(min)}; got ${size === 0 ? "none" : count(size)}.`,
        param,
      },
    ];
  }
  if (size <= max) return [];
  return [{ code: "too_many_items", message: `${name} must have at most ${units(max)}; got ${count(size)}.`, param }];
}

function walkList(
  schema: Schema,
  list: readonly unknown[],
  param: string,
  faults: FieldError[],
  own: readonly FieldError[],
): void {
  const counted = countFaults(schema, list, param);
  faults.push(...counted);
  if (counted.length > 0 || !schema.items) return;
  for (const [index, item] of list.entries()) {
    if (faults.length >= fieldErrorsMax) return;
    walkChild(schema.items, item, joinParam(param, `${index}`), faults, own);
  }
  faults.push(...own.filter((fault) => fault.param === param));
}

function walkObject(
  schema: Schema,
  object: JsonObject,
  param: string,
  faults: FieldError[],
  own: readonly FieldError[],
): void {
  const { properties = {}, required = [], additionalProperties } = schema;
  const counted = countFaults(schema, object, param);
  faults.push(...counted);
  if (counted.length > 0) return;
  for (const name of Object.keys(object)) {
    if (faults.length >= fieldErrorsMax) return;
    const field = joinParam(param, name);
    const child = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (child === false) faults.push(unknownField(name, field, Object.keys(properties)));
    else if (typeof child === "object") walkChild(child, object[name], field, faults, own);
  }
  for (const name of required) {
    if (Object.hasOwn(object, name)) continue;
    faults.push(missing(joinParam(param, name), `send ${expectedOf(properties[name] ?? {})}`));
  }
  if (own.length === 0) return;
  // What the rule says of the object itself, and of fields that are not there.
  const present = Object.keys(object).map((name) => joinParam(param, name));
  const told = new Set(faults.map((fault) => fault.param));
  faults.push(...own.filter((fault) => !told.has(fault.param) && !present.some((field) => isWithin(fault, field))));
}

/** Walks a field, and then tells what the rule of its parent says of it. Its own faults come first, and one is enough for each field. */
function walkChild(
  schema: Schema,
  value: unknown,
  param: string,
  faults: FieldError[],
  ofParent: readonly FieldError[],
): void {
  const before = faults.length;
  walk(schema, value, param, faults);
  if (ofParent.length === 0) return;
  const own = faults.slice(before);
  const isTold = ({ param: place }: FieldError): boolean => place !== null && own.some((one) => isWithin(one, place));
  faults.push(...ofParent.filter((fault) => isWithin(fault, param) && !isTold(fault)));
}

function isWithin(fault: FieldError, param: string): boolean {
  return fault.param === param || fault.param?.startsWith(`${param}.`) === true;
}

function textFaults(
  { minLength = 0, maxLength = Number.POSITIVE_INFINITY, ...schema }: Schema,
  text: string,
  param: string,
): FieldError[] {
  if (text.length >= minLength && !isLongerThan(text, maxLength)) return [];
  const expected =
    schema[rule]?.expected ?? `a text of ${minLength > 0 ? `${minLength} to` : "at most"} ${maxLength} characters`;
  return [mismatch(param, expected, text)];
}
