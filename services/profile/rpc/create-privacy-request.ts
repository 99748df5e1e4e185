import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CreatePrivacyRequestResponseSchema, type PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { DaybookError, serviceUnavailable } from "#shared/values/errors.ts";
import { newUuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { ProfileContext } from "../context.ts";
import { maskForGood } from "../domain/masking.ts";
import { toPrivacyRequest } from "../privacy/mapping.ts";
import { readNewRequest, type NewRequest } from "../privacy/reading.ts";
import type { PrivacyWorker } from "../privacy/worker.ts";
import { findRequestByReference, insertRequest, readRequest, type RequestRow } from "../sql/privacy-requests.ts";
import { findTargets } from "../sql/profiles.ts";

export function createPrivacyRequest(
  context: ProfileContext,
  worker: PrivacyWorker,
): ServiceImpl<typeof PrivacyService>["createPrivacyRequest"] {
  return async (message) => {
    const request = readNewRequest(message, context.clock.nowMicros());
    const known = await findKnown(context, request);
    if (known) return create(CreatePrivacyRequestResponseSchema, known);
    const { property, profile } = request;
    if (profile !== undefined) {
      const [target] = await findTargets(context.database, [property, [profile]]);
      if (!target) throw new DaybookError("resource_not_found", "There is no such profile.", { param: "profile_id" });
    }
    const row = await insert(context, request);
    if (row) {
      worker.wake();
      return create(CreatePrivacyRequestResponseSchema, { request: toPrivacyRequest(row), known: false });
    }
    // A request with its id or its reference was added at the same time.
    const winner = await findKnown(context, request);
    if (!winner) throw serviceUnavailable(new Error("a privacy request was neither added nor found"));
    return create(CreatePrivacyRequestResponseSchema, winner);
  };
}

/** The request of the operation, or that with the reference. */
async function findKnown({ database }: ProfileContext, { property, id, type, reference }: NewRequest) {
  const [own] = id === undefined ? [] : await readRequest(database, [property, id]);
  if (own) return { request: toPrivacyRequest(own), known: false };
  const [first] = reference === null ? [] : await findRequestByReference(database, [property, reference, type]);
  return first && { request: toPrivacyRequest(first), known: true };
}

async function insert({ database, clock }: ProfileContext, request: NewRequest): Promise<RequestRow | undefined> {
  const { identifiers, profile, notBefore } = request;
  const now = clock.nowMicros();
  const masked = identifiers.map((identifier) => ({
    type: identifier.type,
    display_value: maskForGood(identifier),
  }));
  const [row] = await insertRequest(database, [
    request.property,
    request.id ?? newUuid(),
    request.type,
    profile ?? null,
    JSON.stringify(masked),
    request.regulation,
    request.reference,
    formatMicros(request.submittedAt),
    formatMicros(request.dueAt),
    notBefore === null ? null : formatMicros(notBefore),
    request.suppress,
    request.createdBy,
    formatMicros(now),
    JSON.stringify({ named: identifiers, known: [] }),
    formatMicros(Math.max(now, notBefore ?? now)),
    profile === undefined ? [] : [profile],
  ]);
  return row;
}
