/** What stands around the data of answers, and in the place of it: meta, results of batches, and errors. */
import Type from "typebox";
import { closed, errorTypes, id, nullable, oneOf, time } from "./schema-parts.ts";

const code = Type.String({ pattern: "^[a-z][a-z0-9_]*$" });
const param = nullable(Type.String({ description: "Dotted path to the field, query parameter or header at fault" }));
const itemFields = { code, message: Type.String(), param };

const fieldErrors = Type.Array(Type.Object(itemFields, closed), { maxItems: 20, description: "Every field at fault" });

export const BatchResult = Type.Object(
  {
    object: Type.Literal("batch_result"),
    results: Type.Array(
      Type.Object(
        {
          status: Type.Integer({ minimum: 200, maximum: 599 }),
          client_reference: nullable(Type.String()),
          data: nullable(Type.Object({ id: Type.String(), object: Type.String() }, closed)),
          error: nullable(
            Type.Object(
              { type: oneOf(errorTypes, "Closed"), ...itemFields, errors: Type.Optional(fieldErrors) },
              closed,
            ),
          ),
        },
        closed,
      ),
      { description: "In the order of the request" },
    ),
    counts: Type.Object({ succeeded: Type.Integer({ minimum: 0 }), failed: Type.Integer({ minimum: 0 }) }, closed),
  },
  closed,
);

export const Meta = Type.Object(
  {
    request_id: id("req"),
    revision: Type.String({ format: "date" }),
    livemode: Type.Boolean(),
    as_of: Type.Optional(time("The response reflects data through this instant")),
    page: Type.Optional(
      Type.Object(
        {
          limit: Type.Integer({ minimum: 1, maximum: 500 }),
          has_more: Type.Boolean(),
          next_cursor: nullable(Type.String({ pattern: "^cur_", description: "For page[after]; good for 7 days" })),
        },
        closed,
      ),
    ),
    resolved_from: Type.Optional(
      Type.String({ description: "The merged profile that the request named; data has the survivor" }),
    ),
  },
  closed,
);

export const ErrorBody = Type.Object(
  {
    error: Type.Object(
      {
        type: oneOf(errorTypes, "Closed"),
        code,
        message: Type.String(),
        param: Type.Optional(param),
        request_id: id("req"),
        retryable: Type.Boolean({ description: "Whether the same request, unchanged, can succeed later" }),
        retry_after_ms: Type.Optional(nullable(Type.Integer({ minimum: 0 }))),
        errors: Type.Optional(fieldErrors),
      },
      closed,
    ),
  },
  { ...closed, title: "Newest revision", description: "Errors from revision 2026-11-01 on" },
);

export const FirstRevisionErrorBody = Type.Object(
  {
    error: Type.Object(
      {
        code,
        message: Type.String(),
        field: nullable(Type.String({ description: "The field at fault; only with validation_error" })),
        request_id: id("req"),
      },
      closed,
    ),
  },
  { ...closed, title: "Revision 2026-05-01", description: "Errors in the form of revision 2026-05-01" },
);
