/** Writes schemas for the OpenAPI document: named ones by reference, and without our own marks. */
import { documented, opaque } from "../field-rules.ts";

export interface SchemaWriter {
  /** A schema as it appears in an operation. */
  toSchema(this: void, schema: unknown): unknown;
  /** Named schemas. */
  schemas: Readonly<Record<string, unknown>>;
}

/**
 * @param modules whose exported schemas are named after their exports.
 * @param prefix of the names, which keeps several surfaces apart in one document.
 */
export function createSchemaWriter(modules: readonly object[], prefix = ""): SchemaWriter {
  const names = new Map<object, string>(
    modules.flatMap((module) =>
      Object.entries(module).flatMap(([name, schema]) =>
        typeof schema === "object" && schema !== null ? [[schema as object, prefix + name] as const] : [],
      ),
    ),
  );
  const toSchema = (schema: unknown, root?: object): unknown => {
    if (Array.isArray(schema)) return schema.map((item) => toSchema(item));
    if (typeof schema !== "object" || schema === null) return schema;
    const name = names.get(schema);
    if (name !== undefined && schema !== root) return { $ref: `#/components/schemas/${name}` };
    const { [documented]: limits, ...rest } = schema as Record<string, unknown>;
    return Object.fromEntries(
      Object.entries({ ...rest, ...(limits as object | undefined) }).flatMap(([key, value]) =>
        key === opaque ? [] : [[key, toSchema(value)]],
      ),
    );
  };
  return {
    toSchema: (schema) => toSchema(schema),
    schemas: Object.fromEntries([...names].map(([schema, name]) => [name, toSchema(schema, schema)])),
  };
}
