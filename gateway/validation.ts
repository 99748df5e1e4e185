/** One schema validates, types and documents a body. */
import Type from "typebox";
import { Compile } from "typebox/compile";
import { Settings } from "typebox/system";
import { DaybookError, fieldErrorsMax, type FieldError } from "#shared/errors.ts";
import { findJsonProblem, isJsonObject, isRawNumber, type JsonObject, type JsonValue } from "#shared/json.ts";

// One field at fault may give several errors here, which become one in the answer.
Settings.Set({ maxErrors: 4 * fieldErrorsMax });

/** Marks a field of a schema that goes on as JSON text, or that is read by a reader of its own: its content is not looked at. */
export const opaque = "x-opaque";

/** Limits that stand in the document only, under this name: the services check them together with what else they find in a field. */
export const documented = "x-documented";

// No body is as deep outside its opaque fields.
const textDepthMax = 8;

/** Reads a value that should match a schema. */
export interface Reader<T> {
  /** @throws DaybookError with every field at fault. */
  read(value: unknown): T;
}

/** Compiles a schema of an object. */
export function createReader<Schema extends Type.TObject>(schema: Schema): Reader<Type.Static<Schema>> {
  const validator = Compile(schema);
  const texts = Object.keys(schema.properties).filter((field) => !(opaque in (schema.properties[field] ?? {})));
  return {
    read(value) {
      if (!isJsonObject(value)) throw new DaybookError("parameter_invalid", "A JSON object is expected here.");
      if (!validator.Check(value)) throw DaybookError.ofFields(toFieldErrors(value, validator.Errors(value)));
      for (const field of texts) checkTexts(field, (value as JsonObject)[field]);
      return value;
    },
  };
}

/** Compiles the schema of a batch: its items are read one by one, so that a bad one does not fail the others. Nor does it count them. */
export function createBatchReader<Schema extends Type.TObject, Field extends keyof Schema["properties"] & string>(
  schema: Schema,
  field: Field,
): Reader<Type.Static<Schema> & Record<Field, unknown[]>> {
  const unread = Type.Array(Type.Unknown(), { minItems: 1, [opaque]: true });
  const options = { additionalProperties: false };
  const reader = createReader(Type.Object({ ...schema.properties, [field]: unread }, options));
  return reader as unknown as Reader<Type.Static<Schema> & Record<Field, unknown[]>>;
}

/** A protobuf string cannot hold half a surrogate pair: it would arrive as another text, and two texts as the same. */
function checkTexts(field: string, value: JsonValue | undefined): void {
  const problem = value === undefined ? undefined : findJsonProblem(value, textDepthMax);
  if (!problem) return;
  const param = [field, ...problem.path].join(".");
  throw new DaybookError("parameter_invalid", `This ${problem.reason}.`, { param });
}

interface ValidationError {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

/** A field at fault, and where it stands. */
export interface Fault {
  code: FieldError["code"];
  message: string;
  path: readonly string[];
}

function toFieldErrors(value: unknown, errors: readonly ValidationError[]): FieldError[] {
  return fieldErrorsOf(value, errors).map(({ code, message, path }) => ({
    code,
    message,
    // The root has no path.
    param: path.length === 0 ? null : path.join("."),
  }));
}

/** The fields at fault that errors of a validator tell of. */
export function fieldErrorsOf(value: unknown, errors: readonly ValidationError[]): Fault[] {
  // By where: the first that is said of a field is enough.
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
      note("parameter_invalid", "This must not be a number.", path.slice(0, numberAt));
    } else if (keyword === "required") {
      for (const name of (params as { requiredProperties: string[] }).requiredProperties) {
        note("parameter_missing", `${name} is required.`, [...path, name]);
      }
    } else if (keyword === "boolean") {
      // The schema of an unknown field is `false`.
      note("parameter_unknown", "There is no such field here.", path);
    } else if (keyword === "const") {
      // One of these for each value that there could be.
      const key = keyOf(path);
      const choice = [...(choices.get(key) ?? []), JSON.stringify((params as { allowedValue: unknown }).allowedValue)];
      choices.set(key, choice);
      byPath.delete(key);
      note("parameter_invalid", `This must be ${choice.join(" or ")}.`, path);
    } else if (keyword === "minItems" || keyword === "minProperties") {
      // Of an empty body it is the body itself that has nothing in it.
      const where = path.at(-1) ?? "the body";
      note("parameter_missing", `There must be something in ${where}.`, path);
    } else if (keyword !== "additionalProperties") {
      // additionalProperties says once more, of the object around them, that there were unknown fields.
      note("parameter_invalid", `This ${message}.`, path);
    }
  }
  const found = [...byPath.values()];
  // Of a field with several forms it is said that it has none of them, and within it why: the latter is enough.
  return found.filter(
    ({ code, path }) =>
      code !== "parameter_invalid" ||
      path.length === 0 ||
      !found.some((other) => other.path.length > path.length && path.every((key, at) => other.path[at] === key)),
  );
}

/** Numbers that a double does not hold are objects here. @returns how far down a path such a number stands, if one does. */
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
