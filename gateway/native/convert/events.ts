/** Events: bodies to messages. Caller JSON stays text, so that it is not changed. */
import { create } from "@bufbuild/protobuf";
import type { Static } from "typebox";
import { EventInputSchema, type EventInput } from "#proto/daybook/event/v1/event_pb.ts";
import type { DaybookError } from "#shared/values/errors.ts";
import type { EventBatchItem, EventCreate, GuideEventCreate } from "../schemas.ts";
import { apiSource as source } from "./source.ts";

export function toEventInput(
  body: Static<typeof EventCreate> | Static<typeof EventBatchItem>,
  backfill = false,
): EventInput {
  const { identifier } = body;
  // Null means absent.
  const [profile_id, value, currency, dedupeId] = [body.profile_id, body.value, body.currency, body.dedupe_id].map(
    (field) => field ?? undefined,
  );
  return create(EventInputSchema, {
    type: body.type,
    profile: {
      reference:
        identifier === undefined
          ? { case: "profileId", value: profile_id ?? "" }
          : { case: "identifier", value: identifier },
    },
    propertiesJson: JSON.stringify(body.properties),
    value,
    currency,
    occurredAt: body.occurred_at,
    dedupeId,
    ...("idempotency_key" in body && body.idempotency_key !== undefined
      ? { idempotencyKey: body.idempotency_key }
      : {}),
    source,
    backfill,
  });
}

export function fromGuideEvent(body: Static<typeof GuideEventCreate>): EventInput {
  const [[type, value] = ["", ""]] = Object.entries(body.profile);
  return create(EventInputSchema, {
    type: body.event_type,
    profile: { reference: { case: "identifier", value: { type, value } } },
    propertiesJson: JSON.stringify(body.properties),
    idempotencyKey: body.idempotency_key,
    source,
  });
}

/** Maps params to the fields of the guide's body. */
export function toGuideEventError(error: DaybookError, { profile }: Static<typeof GuideEventCreate>): DaybookError {
  const identifier = ["profile", ...Object.keys(profile)].join(".");
  const params: Readonly<Record<string, string>> = {
    type: "event_type",
    "identifier.type": identifier,
    "identifier.value": identifier,
  };
  return error.withParams((param) => params[param] ?? param);
}
