/** Bodies of privacy requests; the other bodies are in schemas.ts. */
import Type from "typebox";
import { identifiersPerRequestMax, referenceLengthMax, regulationLengthMax } from "#shared/values/privacy.ts";
import { documented } from "../field-rules.ts";
import * as rules from "./privacy-rules.ts";
import { dateTime, identifier, idOf, shortText } from "./rules.ts";
import { EventBatchItem, EventIdentifier, orNull } from "./schemas.ts";

const closed = { additionalProperties: false } as const;

export const PrivacySubject = Type.Object(EventIdentifier.properties, { ...closed, ...identifier });

const fields = {
  type: Type.Union([Type.Literal("access"), Type.Literal("erasure")], {
    description: "access: what is kept of the person, as a stream. erasure: nothing is kept of the person any more",
  }),
  profile_id: Type.Optional(
    orNull(
      Type.String({
        description:
          "The person's profile; a merged one stands for its survivor. Required unless identifiers are given",
        ...idOf("prof"),
      }),
    ),
  ),
  identifiers: Type.Optional(
    orNull(
      Type.Array(PrivacySubject, {
        minItems: 1,
        maxItems: identifiersPerRequestMax,
        description:
          "What the person is known by. Those that nobody has are no error: anonymous events may be under them",
        ...rules.subjects,
      }),
    ),
  ),
  regulation: Type.Optional(
    orNull(
      Type.String({
        [documented]: { minLength: 1, maxLength: regulationLengthMax },
        description: "Open: gdpr, ccpa, other",
        ...shortText(regulationLengthMax),
      }),
    ),
  ),
  reference: Type.Optional(
    orNull(
      Type.String({
        [documented]: { minLength: 1, maxLength: referenceLengthMax },
        description:
          "Your own name of the request, such as the number of a ticket, without personal data. A type has it once in " +
          "a property: sent again, it answers the first request",
        ...shortText(referenceLengthMax),
      }),
    ),
  ),
  submitted_at: Type.Optional(
    orNull(
      Type.String({
        [documented]: { format: "date-time" },
        description: "When the person asked, not in the future; absent means now. The request is due 30 days later",
        ...dateTime,
      }),
    ),
  ),
  not_before: Type.Optional(
    orNull(
      Type.String({
        [documented]: { format: "date-time" },
        description: "It begins then, at most 30 days ahead, and can be cancelled until then; absent means at once",
        ...dateTime,
      }),
    ),
  ),
  suppress: Type.Optional(
    Type.Boolean({
      description: "Of an erasure: later writes with the identifiers are refused. false unless it is sent",
    }),
  ),
};

export const PrivacyRequestCreate = Type.Object(fields, { ...closed, ...rules.privacyRequest });

export const PrivacyRequestBatchItem = Type.Object(
  { ...fields, client_reference: EventBatchItem.properties.client_reference },
  { ...closed, ...rules.privacyRequest },
);

const batchItemsMax = 100;

export const PrivacyRequestBatch = Type.Object(
  { requests: Type.Array(PrivacyRequestBatchItem, { minItems: 1, maxItems: batchItemsMax }) },
  closed,
);
