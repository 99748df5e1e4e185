/** Parts that schemas of answers are made of. */
import Type from "typebox";

export const closed = { additionalProperties: false } as const;
export const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
export const time = (description?: string) =>
  Type.String({
    format: "date-time",
    pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}Z$",
    ...(description === undefined ? {} : { description }),
  });
export const id = (prefix: string) => Type.String({ pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$` });
export const oneOf = (names: readonly string[], description: string) =>
  Type.Union(
    names.map((name) => Type.Literal(name)),
    { description },
  );
export const anyObject = (description: string) => Type.Object({}, { additionalProperties: true, description });
/** The closed set of types of errors. */
export const errorTypes = [
  "invalid_request",
  "authentication_error",
  "authorization_error",
  "idempotency_error",
  "conflict",
  "not_found",
  "rate_limit_error",
  "precondition_failed",
  "provider_error",
  "internal_error",
];
