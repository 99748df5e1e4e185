/** One schema validates, types and documents a body. */
import Type from "typebox";
import { Compile } from "typebox/compile";
import { Settings } from "typebox/system";
import { DaybookError, fieldErrorsMax, type FieldError } from "#shared/errors.ts";
import { isJsonObject } from "#shared/json.ts";

// One field at fault may give several errors here, which become one in the answer.
Settings.Set({ maxErrors: 4 * fieldErrorsMax });

/** Reads a value that should match a schema. */
export interface Reader<T> {
  schema: Type.TSchema;
  /** @throws DaybookError with every field at fault. */
  read(value: unknown): T;
}

/** Compiles a schema of an object. */
export function createReader<Schema extends Type.TObject>(schema: Schema): Reader<Type.Static<Schema>> {
  const validator = Compile(schema);
  return {
    schema,
    read(value) {
      if (validator.Check(value)) return value;
      if (!isJsonObject(value)) throw new DaybookError("parameter_invalid", "A JSON object is expected here.");
      throw DaybookError.ofFields(toFieldErrors(validator.Errors(value)));
    },
  };
}

interface ValidationError {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

function toFieldErrors(errors: readonly ValidationError[]): FieldError[] {
  // By param: the first that is said of a field is enough.
  const byParam = new Map<string, FieldError>();
  const note = (code: FieldError["code"], message: string, param: string): void => {
    if (!byParam.has(param)) byParam.set(param, { code, message, param });
  };
  for (const { keyword, instancePath, params, message } of errors) {
    const path = instancePath.split("/").slice(1).map(unescapePointer);
    if (keyword === "required") {
      for (const name of (params as { requiredProperties: string[] }).requiredProperties) {
        note("parameter_missing", `${name} is required.`, [...path, name].join("."));
      }
    } else if (keyword === "boolean") {
      // The schema of an unknown field is `false`.
      note("parameter_unknown", "There is no such field here.", path.join("."));
    } else if (keyword !== "additionalProperties") {
      // additionalProperties says once more, of the object around them, that there were unknown fields.
      note("parameter_invalid", `This ${message}.`, path.join("."));
    }
  }
  return [...byParam.values()];
}

function unescapePointer(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~");
}
