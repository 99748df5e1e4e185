/**
 * Finds the faults of a body: shape faults by its schema, content faults by the rules in the schema. One pass in
 * document order stops at the 20th fault, so the cost of a large body is bounded. TypeBox's own check follows the order
 * of the schema, reads the whole body however many faults it has found, and reports every form of a union.
 */
import type Type from "typebox";
import { fieldErrorsMax, type FieldError } from "#shared/values/errors.ts";
import { isJsonObject, textProblem, type JsonObject, type JsonValue } from "#shared/json/json.ts";
import { count } from "#shared/values/count.ts";
import { isLongerThan } from "#shared/values/text.ts";
import { joinParam, listed, mismatch, missing, quoteName, unkeepable, whatCame } from "#shared/values/wording.ts";
import { opaque, rule, type Rule } from "./field-rules.ts";
import { unknownField } from "./unknown-fields.ts";

/** The JSON Schema keywords that bodies use. */
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
  minimum?: number;
  maximum?: number;
}

/** The faults of a body, at most 20, in document order. Faults of the root have no param. */
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
  else if (schema.type === "integer") faults.push(...rangeFaults(schema, value as number, param));
}

/** Of whole numbers, which always have both ends. */
function rangeFaults(schema: Schema, value: number, param: string): FieldError[] {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (value >= minimum && value <= maximum) return [];
  return [mismatch(param, `${expectedOf(schema)} from ${minimum} to ${maximum}`, value, { quoted: true })];
}

/** Walks the form of a union that matches the type of the value, if there is one. */
function walkForms(schema: Schema, forms: Schema[], value: unknown, param: string, faults: FieldError[]): void {
  const form = forms.find((one) => isOfType(one, value));
  if (form) return walk(form, value, param, faults);
  const expected = schema[rule]?.expected ?? expectedOfForms(forms);
  const quoted = forms.some((one) => one.const !== undefined || one[rule]?.quoted);
  faults.push(mismatch(param, expected, value, { quoted }));
}

function expectedOfForms(forms: readonly Schema[]): string {
  const choices = forms.flatMap((form) => (form.const === undefined ? [] : [JSON.stringify(form.const)]));
  // Null is accepted so that a response can be sent back, but is no value to suggest.
  const others = forms.flatMap((form) => (form.const === undefined && form.type !== "null" ? [expectedOf(form)] : []));
  if (choices.length < 2) return listed([...choices, ...others], "or");
  return [`one of ${listed(choices, "or")}`, ...others].join(", or ");
}

const typeWords: Readonly<Record<string, string>> = {
  object: "an object",
  array: "a list",
  string: "a text",
  boolean: "true or false",
  integer: "a whole number",
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
  if (type === "integer") return Number.isInteger(value);
  return type === "null" ? value === null : typeof value === type;
}

function wrongType(schema: Schema, value: unknown, param: string): FieldError {
  if (param !== "") return mismatch(param, expectedOf(schema), value, { quoted: schema[rule]?.quoted === true });
  return { code: "parameter_invalid", message: rootMessage(schema, value), param };
}

/** A client that sends an array probably forgot to name the list. */
function rootMessage({ properties = {} }: Schema, value: unknown): string {
  const list = Object.keys(properties).find((name) => properties[name]?.type === "array");
  const hint =
    Array.isArray(value) && list !== undefined ? ` Send the list in ${quoteName(list)}: {"${list}": […]}.` : "";
  return `The body must be a JSON object; got ${whatCame(value)}.${hint}`;
}

/** Counts are checked first, because too many items are not examined. */
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
  // Faults that the rule finds in the object itself and in absent fields.
  const present = Object.keys(object).map((name) => joinParam(param, name));
  const reported = new Set(faults.map((fault) => fault.param));
  faults.push(...own.filter((fault) => !reported.has(fault.param) && !present.some((field) => isWithin(fault, field))));
}

/** Walks a field, then adds the parent rule's faults where the walk found none. */
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
  const isReported = ({ param: place }: FieldError): boolean =>
    place !== null && own.some((one) => isWithin(one, place));
  faults.push(...ofParent.filter((fault) => isWithin(fault, param) && !isReported(fault)));
}

function isWithin(fault: FieldError, param: string): boolean {
  return fault.param === param || fault.param?.startsWith(`${param}.`) === true;
}

function textFaults(schema: Schema, text: string, param: string): FieldError[] {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  if (text.length >= minLength && !isLongerThan(text, maxLength)) return [];
  const expected =
    schema[rule]?.expected ?? `a text of ${minLength > 0 ? `${minLength} to` : "at most"} ${maxLength} characters`;
  return [mismatch(param, expected, text)];
}
