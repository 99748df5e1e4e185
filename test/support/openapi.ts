/** Reads the OpenAPI document and validates answers against it. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import type { Answer, Api } from "./api.ts";

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

export interface Content {
  schema: JsonSchema;
  examples?: Record<string, { summary: string; value: unknown }>;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: JsonSchema;
  example?: unknown;
}

export interface DescribedOperation {
  method: string;
  path: string;
  operationId: string;
  description: string;
  parameters: Parameter[];
  body: Content | undefined;
  responses: Record<string, { description: string; headers: object; content: Record<string, Content> }>;
}

export interface OpenApi {
  /** The document as it was sent. */
  text: string;
  /** Operations of the native surface. */
  operations: DescribedOperation[];
  /** Operations of the compatibility surface. */
  compat: DescribedOperation[];
  operationAt(method: string, path: string): DescribedOperation;
  /** Compiles a schema; references resolve within the document. */
  compile(schema: JsonSchema): ValidateFunction;
  /** Resolves a reference; other schemas are returned unchanged. */
  resolve: (schema: JsonSchema) => JsonSchema;
  /** Checks that the document describes an answer's status, body, headers and error code. */
  expectDescribed(answer: Answer, operation: DescribedOperation): void;
}

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

/** The path of an operation with a value for each parameter in it: that of its example, unless another is given. */
export function fillPath(
  { path, parameters }: DescribedOperation,
  valueOf: (parameter: Parameter) => string = ({ example }) => String(example),
): string {
  return parameters
    .filter((parameter) => parameter.in === "path")
    .reduce((filled, parameter) => filled.replace(`{${parameter.name}}`, valueOf(parameter)), path);
}
