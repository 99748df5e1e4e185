/** Redactions: a profile and what was merged into it lose everything that is personal, for good. */
import type { Place } from "#shared/bus/bus.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import { emptyErrorsNaming } from "#shared/jobs/erasing.ts";
import { deleteReplaced } from "#shared/outbox/outbox.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { identifierKey, type NormalIdentifier } from "#shared/values/identifiers.ts";
import { encodeId, type Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { forgetIdentifiers, redactedMessages, tell } from "./announce.ts";
import { retryConflicts, OptimisticConflict, type Attempt } from "./attempts.ts";
import type { ProfileContext } from "./context.ts";
import { emptyRejected } from "./rejections.ts";
import { deleteIdentifiers } from "./sql/identifiers.ts";
import { importErrors } from "./sql/imports.ts";
import { findSources, redactMerges } from "./sql/merges.ts";
import { endStreams } from "./sql/privacy-work.ts";
import { readProfiles, readRow, redactProfile, type ProfileRow } from "./sql/profiles.ts";

const firstSweepDelaySeconds = 5;
/**
 * The redaction is announced again for events that were resolved before it and stored after it. Nearly all are stored
 * within 5 s, and all within this time, because a call lasts at most 10 s and a statement 30 s.
 */
export const lastSweepDelaySecondsDefault = 120;

/** A profile that is redacted. */
export interface Redacted {
  row: ProfileRow;
  /** The profile, and those that were merged into it. */
  profiles: Uuid[];
  /** Everything that the person is known to have been known by. */
  known: NormalIdentifier[];
}

/** What belongs to the person beside the profile itself. */
export interface RedactOptions {
  /** Identifiers that the caller knows of. */
  known?: readonly NormalIdentifier[];
  /** Runs in the transaction of the redaction. */
  within?: (tx: Transaction, redacted: Omit<Redacted, "row">) => Promise<void>;
}

/**
 * Redacts the profile that an id leads to. Of one that is redacted already, it announces the redaction again.
 * @throws DaybookError `resource_not_found`.
 */
export async function redactPerson(
  context: ProfileContext,
  property: Uuid,
  id: Uuid,
  options: RedactOptions = {},
): Promise<Redacted> {
  const { redacted, replaced } = await retryConflicts(context, property, async (attempt) => {
    const [named] = await readProfiles(attempt.database, [property, [id]]);
    if (!named) throw new DaybookError("resource_not_found", "There is no such profile.", { param: "profile_id" });
    const targetId = named.merged_into ?? id;
    if (!attempt.tx || !attempt.held.has(targetId)) throw new OptimisticConflict([targetId]);
    const [target] = targetId === id ? [named] : await readProfiles(attempt.tx, [property, [targetId]]);
    if (!target || target.status === "merged") throw new OptimisticConflict([id]);
    const empty = target.status === "redacted" ? sweepAgain : emptyProfile;
    return empty(context, attempt.tx, attempt, readRow(target), options);
  });
  await deleteReplaced(context.bus, replaced);
  return redacted;
}

/** What a redaction did, and the places of replaced messages on the bus. */
interface Done {
  redacted: Redacted;
  replaced: Place[];
}

/** Announces a redaction again, to delete what was stored since or was kept by an older release. */
async function sweepAgain(
  { redactionSweepSeconds }: ProfileContext,
  tx: Transaction,
  attempt: Attempt,
  row: ProfileRow,
  { known = [], within }: RedactOptions,
): Promise<Done> {
  const { property, now } = attempt;
  const sources = (await findSources(tx, [property, [row.id]])).map(({ id }) => id);
  const write = { property, profile: row.id, version: row.version, now };
  await tell(tx, attempt, redactedMessages(write, sources, known, true));
  if (known.length > 0) {
    await tell(tx, attempt, redactedMessages(write, sources, known, true), redactionSweepSeconds);
  }
  const done = { profiles: [row.id, ...sources], known: [...known] };
  await within?.(tx, done);
  return { redacted: { ...done, row }, replaced: [] };
}

async function emptyProfile(
  { schemas, redactionSweepSeconds }: ProfileContext,
  tx: Transaction,
  attempt: Attempt,
  row: ProfileRow,
  { known: knownBefore = [], within }: RedactOptions,
): Promise<Done> {
  const { property, now } = attempt;
  const sources = (await findSources(tx, [property, [row.id]])).map(({ id }) => id);
  const profiles = [row.id, ...sources];
  await deleteIdentifiers(tx, [property, row.id, null]);
  const updatedAt = Math.max(now, row.updated_at);
  const [written] = await redactProfile(tx, [property, row.id, row.version, formatMicros(updatedAt)]);
  if (!written) throw new OptimisticConflict([row.id]);
  await schemas.forget(tx, property, row.attributes);
  await redactMerges(tx, [property, profiles]);
  // An identifier that it gained and lost counts as its own, because anonymous events may have it.
  const { taken, replaced } = await forgetIdentifiers(tx, property, profiles);
  const known = distinct([...row.identifiers, ...taken, ...knownBefore]);
  const profileIds = profiles.map((profile) => encodeId("prof", profile));
  await emptyErrorsNaming(tx, importErrors, property, { identifiers: known, profileIds });
  replaced.push(...(await emptyRejected(tx, property, { identifiers: known, profileIds })));
  await endStreams(tx, [property, profiles, JSON.stringify(known), formatMicros(now)]);
  await within?.(tx, { profiles, known });
  const write = { property, profile: row.id, version: written.version, now };
  await tell(tx, attempt, redactedMessages(write, sources, known));
  for (const delaySeconds of [Math.min(firstSweepDelaySeconds, redactionSweepSeconds), redactionSweepSeconds]) {
    await tell(tx, attempt, redactedMessages(write, sources, known, true), delaySeconds);
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
  return { redacted: { row: redacted, profiles, known }, replaced };
}

/** Each identifier once, without anything else that it holds. */
export function distinct(identifiers: readonly NormalIdentifier[]): NormalIdentifier[] {
  return [
    ...new Map(
      identifiers.map((identifier) => [identifierKey(identifier), { type: identifier.type, value: identifier.value }]),
    ).values(),
  ];
}
