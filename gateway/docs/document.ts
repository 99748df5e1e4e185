/** The parts of an OpenAPI document that the page uses. */

/** The schema keywords that the document uses. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Readonly<Record<string, Schema>>;
  items?: Schema;
  title?: string;
  description?: string;
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
}

/** Content by media type. */
export type Content = Readonly<
  Record<string, { schema: Schema; examples?: Readonly<Record<string, { summary: string; value: unknown }>> }>
>;

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: string | number | boolean;
  schema: Schema;
}

export interface Response {
  description: string;
  headers?: Readonly<Record<string, unknown>>;
  content?: Content;
}

export interface DocumentedOperation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description?: string;
  parameters: readonly Parameter[];
  requestBody?: { content: Content };
  responses: Readonly<Record<string, Response>>;
}

export interface OpenApiDocument {
  servers: readonly { url: string }[];
  info: { title: string; version: string; description: string };
  tags: readonly { name: string; description?: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  components: { schemas: Readonly<Record<string, Schema>>; securitySchemes: object };
}

/** Resolves a reference; returns any other schema as it is. */
export type Resolve = (schema: Schema) => Schema;

/** @throws Error while resolving a reference to a schema that the document lacks */
export function resolverOf({ components }: OpenApiDocument): Resolve {
  return (schema) => {
    if (schema.$ref === undefined) return schema;
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    const found = components.schemas[name];
    if (!found) throw new Error(`the document has no schema ${name}`);
    return found;
  };
}
