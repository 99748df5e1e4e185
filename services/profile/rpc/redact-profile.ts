import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RedactProfileResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Place } from "#shared/bus/bus.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import { deleteReplaced } from "#shared/outbox/outbox.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import { formatMicros } from "#shared/values/time.ts";
import { forgetIdentifiers, redactedMessages, tell } from "../announce.ts";
import type { ProfileContext } from "../context.ts";
import { emptyImportErrorsOf } from "../imports.ts";
import { toProfile } from "../mapping.ts";
import { deleteIdentifiers } from "../sql/identifiers.ts";
import { findSources, redactMerges } from "../sql/merges.ts";
import { readProfiles, readRow, redactProfile as redact, type ProfileRow } from "../sql/profiles.ts";
import { retryConflicts, OptimisticConflict, type Attempt } from "../attempts.ts";

// The redaction is announced again for events that were resolved before it and stored after it. Nearly all are stored
// within 5 s, and all within 120 s, because a call lasts at most 10 s and a statement 30 s.
const sweepDelaysSeconds = [5, 120];

export function redactProfile(context: ProfileContext): ServiceImpl<typeof ProfileService>["redactProfile"] {
  return async (request) => {
    const property = decodeId("prop", request.propertyId, "property_id");
    const id = decodeId("prof", request.profileId, "profile_id");
    const { row, replaced, resolvedFrom } = await retryConflicts(context, property, async (attempt) => {
      const [named] = await readProfiles(attempt.database, [property, [id]]);
      if (!named) throw new DaybookError("resource_not_found", "There is no such profile.", { param: "profile_id" });
      const targetId = named.merged_into ?? id;
      if (!attempt.tx || !attempt.held.has(targetId)) throw new OptimisticConflict([targetId]);
      const [target] = targetId === id ? [named] : await readProfiles(attempt.tx, [property, [targetId]]);
      if (!target || target.status === "merged") throw new OptimisticConflict([id]);
      const done =
        target.status === "redacted"
          ? await sweepAgain(attempt.tx, attempt, readRow(target))
          : await empty(context, attempt.tx, attempt, readRow(target));
      return {
        ...done,
        resolvedFrom: targetId === id ? undefined : encodeId("prof", id),
      };
    });
    await deleteReplaced(context.bus, replaced);
    return create(RedactProfileResponseSchema, {
      profile: toProfile(row),
      resolvedFrom,
    });
  };
}

/** Announces a redaction again, to delete what was stored since or was kept by an older release. */
async function sweepAgain(
  tx: Transaction,
  attempt: Attempt,
  row: ProfileRow,
): Promise<{ row: ProfileRow; replaced: Place[] }> {
  const sources = (await findSources(tx, [attempt.property, [row.id]])).map(({ id }) => id);
  await tell(tx, attempt, redactedMessages(attempt.property, row.id, attempt.now, sources, [], true));
  return { row, replaced: [] };
}

/** @returns the redacted profile, and the places of replaced messages on the bus. */
async function empty(
  { schemas }: ProfileContext,
  tx: Transaction,
  attempt: Attempt,
  row: ProfileRow,
): Promise<{ row: ProfileRow; replaced: Place[] }> {
  const { property, now } = attempt;
  const sources = (await findSources(tx, [property, [row.id]])).map(({ id }) => id);
  await deleteIdentifiers(tx, [property, row.id, null]);
  const updatedAt = Math.max(now, row.updated_at);
  const [written] = await redact(tx, [property, row.id, row.version, formatMicros(updatedAt)]);
  if (!written) throw new OptimisticConflict([row.id]);
  await schemas.forget(tx, property, row.attributes);
  await redactMerges(tx, [property, [row.id, ...sources]]);
  // An identifier that it gained and lost counts as its own, because anonymous events may have it.
  const { taken, replaced } = await forgetIdentifiers(tx, property, [row.id, ...sources]);
  const known = [...row.identifiers, ...taken];
  await emptyImportErrorsOf(tx, property, known);
  await tell(tx, attempt, redactedMessages(property, row.id, now, sources, known));
  for (const delaySeconds of sweepDelaysSeconds) {
    await tell(tx, attempt, redactedMessages(property, row.id, now, sources, [], true), delaySeconds);
  }
  const redacted: ProfileRow = {
    ...row,
    status: "redacted",
    attributes: "{}",
    location: null,
    tags: [],
    version: written.version,
    updated_at: updatedAt,
    identifiers: [],
  };
  return { row: redacted, replaced };
}
