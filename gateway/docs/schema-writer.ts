/** Schemas as the OpenAPI document has them: named ones by reference, and without our own marks. */
import { documented, opaque } from "../field-rules.ts";

/** Writes schemas of a surface. */
export interface SchemaWriter {
  /** A schema as it stands in an operation. */
  toSchema(this: void, schema: unknown): unknown;
  /** Those that have a name. */
  schemas: Readonly<Record<string, unknown>>;
}

/**
 * @param modules whose exported schemas have the names that they are exported under.
 * @param prefix of these names, so that those of several surfaces can stand in one document.
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
