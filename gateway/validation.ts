/** Readers of bodies. One schema validates, types and documents a body. */
import Type from "typebox";
import { Settings } from "typebox/system";
import { DaybookError, fieldErrorsMax, type FieldError } from "#shared/values/errors.ts";
import { isRawNumber } from "#shared/json/json.ts";
import { listed, quoteName } from "#shared/values/wording.ts";
import { findBodyFaults } from "./body-faults.ts";
import { opaque } from "./field-rules.ts";

// TypeBox may report several errors for one field, which are merged into one.
Settings.Set({ maxErrors: 4 * fieldErrorsMax });

/** Reads a value that must match one of its schemas. */
export interface Reader<T> {
  schemas: readonly Type.TObject[];
  /** @returns the faults of a value, at most 20, in document order; the value is valid if there are none. */
  examine(value: unknown): { faults: FieldError[]; value: T };
  /** @throws DaybookError with every field at fault */
  read(value: unknown): T;
}

export function createReader<Schema extends Type.TObject>(schema: Schema): Reader<Type.Static<Schema>> {
  return toReader([schema], (value) => ({
    faults: findBodyFaults(schema, value),
    value: value as Type.Static<Schema>,
  }));
}

function toReader<T>(schemas: Reader<T>["schemas"], examine: Reader<T>["examine"]): Reader<T> {
  return {
    schemas,
    examine,
    read(given) {
      const { faults, value } = examine(given);
      if (faults.length > 0) throw DaybookError.ofFields(faults);
      return value;
    },
  };
}

/** A body in the main form, or in the form of the getting-started guide. */
export type EitherForm<Main, Guide> = { main: Main; guide?: undefined } | { main?: undefined; guide: Guide };

/** A reader of a body with two forms. @param isGuide decides which form a body has. */
export function createEitherReader<Main extends Type.TObject, Guide extends Type.TObject>(
  main: Main,
  guide: Guide,
  isGuide: (value: unknown) => boolean,
): Reader<EitherForm<Type.Static<Main>, Type.Static<Guide>>> {
  return toReader([main, guide], (value) => {
    const form = isGuide(value) ? "guide" : "main";
    const faults = findBodyFaults(form === "guide" ? guide : main, value);
    return { faults, value: { [form]: value } as EitherForm<Type.Static<Main>, Type.Static<Guide>> };
  });
}

/** A reader of a batch. It only counts the items, which are read one by one later, so that a bad one fails alone. */
export function createBatchReader<Schema extends Type.TObject, Field extends keyof Schema["properties"] & string>(
  schema: Schema,
  field: Field,
): Reader<Type.Static<Schema> & Record<Field, unknown[]>> {
  const { minItems, maxItems } = schema.properties[field] as { minItems?: number; maxItems?: number };
  const unread = Type.Array(Type.Unknown(), {
    ...(minItems && { minItems }),
    ...(maxItems && { maxItems }),
    [opaque]: true,
  });
  const options = { additionalProperties: false };
  const counted = Type.Object({ ...schema.properties, [field]: unread }, options);
  type Batch = Type.Static<Schema> & Record<Field, unknown[]>;
  return toReader([schema], (value) => ({ faults: findBodyFaults(counted, value), value: value as Batch }));
}

interface ValidationError {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

export interface Fault {
  code: FieldError["code"];
  message: string;
  path: readonly string[];
}

/** The fields at fault according to a validator's errors. */
export function fieldErrorsOf(value: unknown, errors: readonly ValidationError[]): Fault[] {
  // By path: the first error of a field is enough.
  const byPath = new Map<string, Fault>();
  const choices = new Map<string, string[]>();
  const keyOf = (path: readonly string[]): string => JSON.stringify(path);
  const note = (code: FieldError["code"], message: string, path: readonly string[]): void => {
    if (!byPath.has(keyOf(path))) byPath.set(keyOf(path), { code, message, path });
  };
  for (const { keyword, instancePath, params, message } of errors) {
    const path = instancePath.split("/").slice(1).map(unescapePointer);
    const numberAt = findRawNumber(value, path);
    if (numberAt !== undefined) {
      note("parameter_invalid", `${nameOf(path.slice(0, numberAt))} must not be a number.`, path.slice(0, numberAt));
    } else if (keyword === "required") {
      for (const name of (params as { requiredProperties: string[] }).requiredProperties) {
        note("parameter_missing", `${quoteName(name)} is required.`, [...path, name]);
      }
    } else if (keyword === "boolean") {
      // The schema of an unknown field is `false`.
      note("parameter_unknown", `${nameOf(path)} is not a known field.`, path);
    } else if (keyword === "const") {
      // One error for each allowed value.
      const key = keyOf(path);
      const choice = [...(choices.get(key) ?? []), JSON.stringify((params as { allowedValue: unknown }).allowedValue)];
      choices.set(key, choice);
      byPath.delete(key);
      note("parameter_invalid", `${nameOf(path)} must be ${listed(choice, "or")}.`, path);
    } else if (keyword === "minItems" || keyword === "minProperties") {
      note("parameter_missing", `${nameOf(path)} must not be empty.`, path);
    } else if (keyword !== "additionalProperties") {
      // additionalProperties repeats on the parent object that it has unknown fields.
      note("parameter_invalid", `${nameOf(path)} ${message}.`, path);
    }
  }
  const found = [...byPath.values()];
  // A union reports that no form matches, and also why within the form: only the latter is kept.
  return found.filter(
    ({ code, path }) =>
      code !== "parameter_invalid" ||
      path.length === 0 ||
      !found.some((other) => other.path.length > path.length && path.every((key, at) => other.path[at] === key)),
  );
}

/** Only the last key, because the pointer shows the whole path. */
function nameOf(path: readonly string[]): string {
  const name = path.at(-1);
  return name === undefined ? "The body" : quoteName(name);
}

/** Numbers that a double cannot hold are objects here. @returns the depth of such a number along a path, if any. */
function findRawNumber(value: unknown, path: readonly string[]): number | undefined {
  let at = value;
  for (let depth = 0; ; depth++) {
    if (isRawNumber(at)) return depth;
    const key = path[depth];
    if (key === undefined || typeof at !== "object" || at === null) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
}

function unescapePointer(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~");
}
