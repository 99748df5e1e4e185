/** The OpenAPI document as the tests read it, and answers held against it. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import type { Answer, Api } from "./api.ts";

/** A schema as it stands in the document. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
}

/** A body that is described. */
export interface Content {
  schema: JsonSchema;
  examples?: Record<string, { summary: string; value: unknown }>;
}

/** A parameter that is described. */
export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: JsonSchema;
  example?: unknown;
}

/** An operation that is described. */
export interface DescribedOperation {
  method: string;
  path: string;
  operationId: string;
  description: string;
  parameters: Parameter[];
  body: Content | undefined;
  responses: Record<string, { description: string; headers: object; content: Record<string, Content> }>;
}

/** The document. */
export interface OpenApi {
  /** As it was answered. */
  text: string;
  /** Of the native surface. */
  operations: DescribedOperation[];
  /** Of the compatibility surface. */
  compat: DescribedOperation[];
  operationAt(method: string, path: string): DescribedOperation;
  /** Compiles a schema of the document, in which references are found. */
  compile(schema: JsonSchema): ValidateFunction;
  /** What a reference stands for, or the schema itself. */
  resolve: (schema: JsonSchema) => JsonSchema;
  /** Checks that an answer is one of those that are described: its status, its body, its headers and, of an error, its code. */
  expectDescribed(answer: Answer, operation: DescribedOperation): void;
}

/** Reads the document. */
export async function readOpenApi(api: Api): Promise<OpenApi> {
  const { text, body: document } = await api.get("/openapi.json");
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validators = new Map<JsonSchema, ValidateFunction>();
  const compile = (schema: JsonSchema): ValidateFunction => {
    const validate = validators.get(schema) ?? ajv.compile({ ...schema, components: document.components });
    validators.set(schema, validate);
    return validate;
  };
  const everyOperation = Object.entries<Record<string, DescribedOperation & { requestBody?: { content: object } }>>(
    document.paths,
  ).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      body: (operation.requestBody?.content as Record<string, Content> | undefined)?.["application/json"],
    })),
  );
  const [operations, compat] = [/^\/v1\//, /^\/api\//].map((prefix) =>
    everyOperation.filter(({ path }) => prefix.test(path)),
  );
  return {
    text,
    operations: operations ?? [],
    compat: compat ?? [],
    compile,
    operationAt(method, path) {
      const found = everyOperation.find((one) => one.method === method && one.path === path);
      if (!found) throw new Error(`${method} ${path} is not described`);
      return found;
    },
    resolve: (schema) =>
      schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split("/").at(-1) ?? ""],
    expectDescribed(answer, { operationId, responses }) {
      const about = `${operationId} answered ${answer.status} ${answer.text.slice(0, 1000)}`;
      const response = responses[answer.status];
      if (!response) throw new Error(`${about}, which is not described`);
      const validate = compile(
        (response.content["application/json"] ?? response.content["application/vnd.api+json"])?.schema ?? {},
      );
      expect([about, validate(answer.body), validate.errors]).toEqual([about, true, null]);
      const missing = Object.entries(response.headers).flatMap(([name, { $ref }]) => {
        const { required = true } = document.components.headers[$ref.split("/").at(-1) ?? ""];
        return required && answer.headers.get(name) === null ? [name] : [];
      });
      expect([about, missing]).toEqual([about, []]);
      if (answer.status >= 400)
        expect([about, response.description]).toEqual([
          about,
          expect.stringContaining(`\`${answer.body.error?.code ?? answer.body.errors[0].code}\``),
        ]);
    },
  };
}
