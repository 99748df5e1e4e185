/** Schemas of rejected writes. */
import Type from "typebox";
import { closed, errorTypes, id, nullable, oneOf, time } from "./schema-parts.ts";

const code = Type.String({ pattern: "^[a-z][a-z0-9_]*$", description: "Open" });
const docsUrl = Type.String({ format: "uri", description: "What to do about the code" });
const severity = oneOf(["error", "warning"], "Closed: warning if the same can succeed, or was in conflict");
const operation = Type.String({ description: "Open, such as events.create or compat.events.create" });
const param = (description: string) => nullable(Type.String({ description }));

export const RejectedWrite = Type.Object(
  {
    id: id("rej"),
    object: Type.Literal("rejected_write"),
    rejected_at: time(),
    operation,
    surface: oneOf(["native", "compat"], "Closed"),
    severity,
    status: Type.Integer({
      minimum: 400,
      maximum: 599,
      description: "Of the answer; of an item, that which it would have alone",
    }),
    error: Type.Object(
      {
        type: oneOf(errorTypes, "Closed"),
        code,
        message: Type.String(),
        param: param("The field at fault: a dotted path, or a JSON pointer over the compatibility surface"),
      },
      closed,
    ),
    errors: Type.Array(Type.Object({ code, message: Type.String(), param: param("The field") }, closed), {
      maxItems: 20,
      description: "Every field at fault, if there is more than one",
    }),
    request_id: nullable(Type.String({ description: "Of an item of a job, the request that made the job" })),
    job_id: nullable(id("job")),
    item_index: nullable(Type.Integer({ minimum: 0, description: "Which item of a batch or job" })),
    client_reference: nullable(Type.String()),
    event_type: nullable(Type.String({ description: "If it is an event whose type could be read" })),
    key_id: nullable(id("key")),
    key_name: Type.String({ description: "The name of the key, or of the app" }),
    installation_id: nullable(id("inst")),
    docs_url: docsUrl,
    payload_state: oneOf(["kept", "truncated", "redacted", "not_kept"], "Closed"),
    payload: Type.Optional(
      nullable(
        Type.String({
          description: "The text that was sent, at most 16 KB; only of one, with the scope identifiers:read_value",
        }),
      ),
    ),
  },
  closed,
);

export const RejectedWriteSummary = Type.Object(
  {
    object: Type.Literal("rejected_write_summary"),
    count: Type.Integer({ minimum: 0, description: "Of all groups, exact" }),
    has_more: Type.Boolean({ description: "Whether there are more groups" }),
    groups: Type.Array(
      Type.Object(
        {
          operation,
          code,
          param: param("With * for indexes; * alone for a field of another name than the API has"),
          event_type: nullable(Type.String()),
          key_id: Type.String({ description: "The key or installation" }),
          key_name: Type.String(),
          severity,
          count: Type.Integer({ minimum: 1 }),
          first_seen_at: time(),
          last_seen_at: time(),
          sample_ids: Type.Array(id("rej"), { maxItems: 3, description: "The newest that are kept" }),
          docs_url: docsUrl,
        },
        closed,
      ),
      { maxItems: 100, description: "Those with the most first" },
    ),
  },
  closed,
);
