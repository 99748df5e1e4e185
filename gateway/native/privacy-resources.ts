/** Schemas of privacy requests and suppressions in answers; the others are in resources.ts. */
import Type from "typebox";
import { closed, id, nullable, oneOf, time } from "./schema-parts.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const PrivacyRequest = Type.Object(
  {
    id: id("priv"),
    object: Type.Literal("privacy_request"),
    type: oneOf(["access", "erasure"], "Closed"),
    status: oneOf(["pending", "in_progress", "completed", "failed", "cancelled"], "Closed"),
    subject: Type.Object(
      {
        profile_id: nullable(id("prof")),
        identifiers: Type.Array(
          Type.Object({ type: Type.String(), display_value: Type.String({ description: "Masked" }) }, closed),
        ),
      },
      { ...closed, description: "Who was named" },
    ),
    profile_ids: Type.Array(id("prof"), { description: "The profiles found: survivors, and those merged into them" }),
    regulation: nullable(Type.String({ description: "Open: gdpr, ccpa, other" })),
    reference: nullable(Type.String()),
    submitted_at: time("When the person asked"),
    due_at: time("30 days later"),
    not_before: nullable(time("It does not begin before then")),
    suppress: Type.Boolean(),
    counts: nullable(
      Type.Object(
        {
          profiles: count("Those that were merged are among them"),
          identifiers: count("Of these profiles"),
          events: count("Of these profiles"),
          anonymous_events: count("Under the identifiers, without a profile"),
          webhook_messages: count("Bodies of webhook messages that name the person"),
          rejected_writes: count("Bodies of rejected writes that name the person"),
          import_errors: count("Kept items of import jobs that name the person"),
        },
        { ...closed, description: "What was found; null before it is known" },
      ),
    ),
    not_reached: Type.Array(Type.String(), { description: "What could not be reached, such as backups: sentences" }),
    download: nullable(
      Type.Object(
        {
          expires_at: time("Until when the stream can be had"),
          as_of: time("It holds what was on record then"),
          events: count("Those without a profile are among them"),
        },
        { ...closed, description: "Of a completed access request" },
      ),
    ),
    failure: nullable(
      Type.Object({ code: Type.String(), message: Type.String() }, { ...closed, description: "Why it failed" }),
    ),
    created_by: Type.String({
      description: "The id of a key, an installation or a member, or who asked within Daybook",
    }),
    created_at: time(),
    updated_at: time(),
    completed_at: nullable(time("When it was completed, failed or cancelled")),
  },
  closed,
);

export const Suppression = Type.Object(
  {
    id: id("supp"),
    object: Type.Literal("suppression"),
    type: Type.String({ description: "The type of the identifier. Its value is kept nowhere" }),
    privacy_request_id: id("priv"),
    created_at: time(),
  },
  closed,
);

export const DeletedSuppression = Type.Object(
  { id: id("supp"), object: Type.Literal("suppression"), deleted: Type.Literal(true) },
  closed,
);
