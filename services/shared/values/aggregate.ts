/** Rules of aggregate queries: time ranges, group-by fields and conditions. */
import type { Micros } from "./clock.ts";
import type { FieldError } from "./errors.ts";
import { parseField } from "./event-field.ts";
import { isRawNumber, parseJson, textProblem } from "../json/json.ts";
import { count } from "./count.ts";
import { quoteName } from "./wording.ts";

const yearMin = 1900;
const yearMax = 2200;

/** Finds the faults of a range. */
export function findRangeFaults(from: Micros, to: Micros): FieldError[] {
  const outside = (param: "from" | "to"): FieldError => ({
    code: "parameter_invalid",
    message: `${quoteName(param)} must lie between the years ${yearMin} and ${yearMax}.`,
    param,
  });
  const faults = [...(isReal(from) ? [] : [outside("from")]), ...(isReal(to) ? [] : [outside("to")])];
  if (faults.length > 0 || to > from) return faults;
  return [
    {
      code: "parameter_invalid",
      message: "`to` must be later than `from`; got a range that ends before it begins.",
      param: "to",
    },
  ];
}

function isReal(micros: Micros): boolean {
  const year = new Date(micros / 1000).getUTCFullYear();
  return year >= yearMin && year < yearMax;
}

/** At most so many fields are grouped by, apart from the currency of sums. */
export const groupByMax = 2;
const conditionsMax = 10;
const fieldRule = 'must name "source", "currency", or "properties." and a path such as "properties.plan"';

/** Finds the faults of group-by fields. @param fields their texts, see event-field.ts. */
export function findGroupByFaults(fields: readonly string[], fieldsMax = groupByMax): FieldError[] {
  const faults = fields.length > fieldsMax ? [tooMany("group_by", fieldsMax, fields.length)] : [];
  for (const [index, field] of fields.slice(0, fieldsMax).entries()) {
    const param = `group_by.${index}`;
    if (parseField(field) === undefined) faults.push(invalid(param, fieldRule));
    else if (fields.indexOf(field) < index) faults.push(invalid(param, "repeats a field of the list"));
  }
  return faults;
}

/** A condition: a field that must equal a value. */
export interface WantedCondition {
  field: string;
  value: unknown;
  /** The place of the condition in the request. */
  param: string;
}

/** Reads a condition of an RPC. Its value is undefined if it is no JSON. */
export function readCondition({ field, valueJson }: { field: string; valueJson: string }): WantedCondition {
  const param = `filter.${field}`;
  try {
    return { field, value: parseJson(valueJson), param };
  } catch {
    return { field, value: undefined, param };
  }
}

/** Finds the faults of conditions. */
export function findConditionFaults(conditions: readonly WantedCondition[]): FieldError[] {
  const excess = conditions.length > conditionsMax ? [tooMany("filter", conditionsMax, conditions.length)] : [];
  const faults = conditions.slice(0, conditionsMax).flatMap(({ field, value, param }) => {
    if (parseField(field) === undefined) return [invalid(param, fieldRule)];
    return isScalar(value) ? [] : [invalid(param, "must be a text, a number, true, false or null")];
  });
  return [...excess, ...faults];
}

function isScalar(value: unknown): boolean {
  if (typeof value === "string") return textProblem(value) === undefined;
  return value === null || ["number", "boolean"].includes(typeof value) || isRawNumber(value);
}

function invalid(param: string, what: string): FieldError {
  return { code: "parameter_invalid", message: `${quoteName(param)} ${what}.`, param };
}

function tooMany(param: string, max: number, got: number): FieldError {
  const message = `${quoteName(param)} must have at most ${max} fields; got ${count(got)}.`;
  return { code: "too_many_items", message, param };
}
