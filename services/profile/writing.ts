/**
 * Optimistic writes of profiles. A write reads the profile with its version, decides, and writes only if the version is
 * still the same. After a conflict it is retried in a transaction that locks the profile, so that it succeeds however
 * many writers compete. The version covers all that the profile shows, including its identifiers.
 */
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { Precondition } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId, encodeId, newUuid, type Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { createdMessage, identifiedMessages, subject, type Message } from "./announce.ts";
import type { ProfileContext } from "./context.ts";
import { checkPrecondition } from "./convert.ts";
import { identifiersPerProfileMax, type WantedIdentifier } from "#shared/values/identifiers.ts";
import { isSameLocation, type StoredLocation } from "./domain/location.ts";
import { newProfileRef } from "./domain/ref.ts";
import { deleteIdentifiers, markIdentifiers } from "./sql/identifiers.ts";
import { readProfiles, readRow, writeProfiles, type ProfileIdentifierRow, type ProfileRow } from "./sql/profiles.ts";
import { oncePerOperation } from "./operations.ts";
import { OptimisticConflict, type Attempt } from "./attempts.ts";

/** The profile that a write by id changes. */
export interface Target {
  row: ProfileRow;
  /** TypeID of the merged profile that was named, if any. */
  resolvedFrom: string | undefined;
}

/**
 * Finds the profile that a write by id changes: the survivor, if the named profile is merged.
 * @throws DaybookError `resource_not_found` or `profile_redacted`, with `param`.
 */
export async function findTarget(attempt: Attempt, id: Uuid, param: string): Promise<Target> {
  const [named] = await readProfiles(attempt.database, [attempt.property, [id]]);
  if (!named) throw new DaybookError("resource_not_found", "There is no such profile.", { param });
  const survivor = named.merged_into;
  const [row] = survivor === null ? [named] : await readProfiles(attempt.database, [attempt.property, [survivor]]);
  // The survivor was itself merged between the two reads.
  if (!row || row.status === "merged") throw new OptimisticConflict([id]);
  if (row.status === "redacted") throw redacted(param);
  return { row: readRow(row), resolvedFrom: survivor === null ? undefined : encodeId("prof", id) };
}

/** The fields of a request that name the profile. */
export interface WriteRequest {
  propertyId: string;
  profileId: string;
  precondition?: Precondition;
  operationId?: string;
}

/**
 * Writes to a profile by its id.
 * @param decide returns what to write, from the current profile; called once in each attempt.
 * @returns the profile after the write, whether it gained identifiers, and `resolvedFrom` for a named merged profile.
 * @throws DaybookError `invalid_id`, `resource_not_found`, `profile_redacted`, `precondition_failed`, or as `decide`.
 */
export async function writeToProfile(
  context: ProfileContext,
  request: WriteRequest,
  decide: (row: ProfileRow, attempt: Attempt) => Edit | Promise<Edit>,
): Promise<{ row: ProfileRow; gained: boolean; resolved: { resolvedFrom?: string } }> {
  const property = decodeId("prop", request.propertyId, "property_id");
  const id = decodeId("prof", request.profileId, "profile_id");
  return oncePerOperation(context, property, request, async (attempt) => {
    const { row, resolvedFrom } = await findTarget(attempt, id, "profile_id");
    checkPrecondition(request.precondition, row.version);
    const edit = await decide(row, attempt);
    const saved = await save(attempt, row, edit);
    const gained = (edit.added?.length ?? 0) > 0;
    return { row: saved, gained, resolved: resolvedFrom === undefined ? {} : { resolvedFrom } };
  });
}

/** The error for a write to a redacted profile. */
export function redacted(param: string): DaybookError {
  return new DaybookError("profile_redacted", "The profile is redacted: nothing more is kept of this person.", {
    param,
  });
}

/** The content of a new profile. */
export interface NewProfile {
  identifiers: readonly WantedIdentifier[];
  attributes: string;
  location: StoredLocation | null;
  source: string;
}

/** A planned write: the profile after it, and the changes. */
export interface Plan {
  row: ProfileRow;
  /** The version that it must have before; undefined for a new profile. */
  version: number | undefined;
  /** New identifiers, which `row` includes. */
  added: readonly ProfileIdentifierRow[];
  /** Its attributes, if they change. */
  attributes: string | undefined;
  /** Outbox messages that announce the write. */
  messages: readonly Message[];
  /** Ids of identifiers whose primary mark changes or that are removed; they need statements before and after. */
  demoted: ReadonlySet<Uuid>;
  promoted: ReadonlySet<Uuid>;
  removed: ReadonlySet<Uuid>;
}

const none: ReadonlySet<Uuid> = new Set();

export function planInsert({ property, operation, now }: Attempt, profile: NewProfile): Plan {
  const { attributes, location, source } = profile;
  const id = operation ?? newUuid();
  const added = profile.identifiers.map((identifier) => toIdentifierRow(identifier, source, now));
  const row: ProfileRow = {
    id,
    status: "active",
    attributes,
    tags: [],
    location,
    merged_into: null,
    version: 1,
    profile_ref: null,
    created_at: now,
    updated_at: now,
    identifiers: added.toSorted(byId),
  };
  const messages = [createdMessage(property, id, now, profile.identifiers)];
  return { row, version: undefined, added, attributes, messages, demoted: none, promoted: none, removed: none };
}

/** Creates a profile. Fails with a unique violation, which is retried, when an identifier is already held. */
export async function insert(attempt: Attempt, profile: NewProfile): Promise<ProfileRow> {
  const plan = planInsert(attempt, profile);
  const [row] = await execute(attempt, [plan]);
  // An identifier was suppressed at the same time; the next look-up of holders says so.
  if (!row) throw new OptimisticConflict();
  return row;
}

/** Changes of a profile; an absent field stays as it is. */
export interface Edit {
  attributes?: string;
  location?: StoredLocation | null;
  tags?: readonly string[];
  /** Identifiers that it does not have yet. */
  added?: readonly WantedIdentifier[];
  /** Source of the added identifiers. */
  source?: string;
  /** Ids of identifiers that become the primary ones of their types. */
  promoted?: readonly Uuid[];
  /** Ids of identifiers that are removed. */
  removed?: readonly Uuid[];
  /** Forces a write, after which the version is above this one. */
  versionAbove?: number;
}

/**
 * Plans a write to a profile.
 * @returns undefined when it would change nothing.
 * @throws DaybookError `too_many_items` with param `identifiers`.
 */
export function planEdit({ property, now }: Attempt, row: ProfileRow, edit: Edit): Plan | undefined {
  const { attributes = row.attributes, location = row.location, tags = row.tags, source = "" } = edit;
  const added = (edit.added ?? []).map((identifier) => toIdentifierRow(identifier, source, now));
  const removed = new Set(edit.removed);
  const { promoted, demoted } = changePrimaries(row.identifiers, added, new Set(edit.promoted));
  const isChanged =
    edit.versionAbove !== undefined ||
    added.length + removed.size + promoted.size + demoted.size > 0 ||
    attributes !== row.attributes ||
    tags.join("\0") !== row.tags.join("\0") ||
    !isSameLocation(location, row.location);
  if (!isChanged) return undefined;
  if (added.length > 0 && row.identifiers.length + added.length > identifiersPerProfileMax) {
    const message = `A profile has at most ${identifiersPerProfileMax} identifiers.`;
    throw new DaybookError("too_many_items", message, { param: "identifiers" });
  }
  const kept = row.identifiers.filter(({ id }) => !removed.has(id));
  const version = Math.max(row.version, edit.versionAbove ?? 0) + 1;
  const marked = kept.map((identifier): ProfileIdentifierRow => {
    const { id } = identifier;
    if (!promoted.has(id) && !demoted.has(id)) return identifier;
    return { ...identifier, is_primary: promoted.has(id), updated_at: formatMicros(now) };
  });
  const planned: ProfileRow = {
    ...row,
    attributes,
    location,
    tags: [...tags],
    version,
    updated_at: Math.max(now, row.updated_at),
    identifiers: [...marked, ...added].toSorted(byId),
  };
  const messages = identifiedMessages({ property, profile: row.id, version, now }, added);
  const written = attributes === row.attributes ? undefined : attributes;
  return { row: planned, version: row.version, added, attributes: written, messages, demoted, promoted, removed };
}

/** Whether a plan takes more than one statement, because a type never has two primary identifiers. */
export function isCompound({ demoted, promoted, removed }: Plan): boolean {
  return demoted.size + promoted.size + removed.size > 0;
}

/** Writes to a profile, unless nothing changes. @returns the profile after it. */
export async function save(attempt: Attempt, row: ProfileRow, edit: Edit): Promise<ProfileRow> {
  const plan = planEdit(attempt, row, edit);
  if (!plan) return row;
  const { database, property } = attempt;
  const { demoted, promoted, removed } = plan;
  // An attempt that locks profiles locks them all at its start, so that it never waits for another.
  const mustHold = isCompound(plan) || attempt.held.size > 0;
  if (mustHold && !attempt.held.has(row.id)) throw new OptimisticConflict([row.id]);
  const now = formatMicros(attempt.now);
  if (demoted.size > 0) await markIdentifiers(database, [property, row.id, [...demoted], false, now]);
  const [written] = await execute(attempt, [plan]);
  if (!written) throw new OptimisticConflict([row.id]);
  if (promoted.size > 0) await markIdentifiers(database, [property, row.id, [...promoted], true, now]);
  if (removed.size > 0) await deleteIdentifiers(database, [property, row.id, [...removed]]);
  return written;
}

/**
 * Executes plans, each of a different profile, in one statement. The caller does the compound parts.
 * @returns for each plan, in order, the profile after it; undefined if the version had changed or the row was locked.
 */
export async function execute(attempt: Attempt, plans: readonly Plan[]): Promise<(ProfileRow | undefined)[]> {
  const { database, property } = attempt;
  const messages = plans.flatMap(({ row, messages: ofPlan }) =>
    ofPlan.map((message) => ({ ...message, profile_id: row.id })),
  );
  if (messages.length > 0) attempt.checkRoom();
  const done = await writeProfiles(database, [
    property,
    subject,
    plans.flatMap(({ row, version }) =>
      version === undefined ? [] : [{ ...row, version, new_version: row.version, tags: JSON.stringify(row.tags) }],
    ),
    plans.flatMap(({ row, version }) => (version === undefined ? [{ ...row, ref: newProfileRef() }] : [])),
    plans.flatMap(({ row, added }) => added.map((identifier) => ({ ...identifier, profile_id: row.id }))),
    messages,
  ]);
  if (messages.length > 0) attempt.hasNews = true;
  const refs = new Map(done.map(({ id, profile_ref: ref }) => [id, ref]));
  return plans.map(({ row, version, attributes }) => {
    if (!refs.has(row.id)) return undefined;
    if (attributes !== undefined) attempt.attributes.push(attributes);
    return version === undefined ? { ...row, profile_ref: refs.get(row.id) ?? null } : row;
  });
}

/** Which identifiers gain or lose the primary mark, so that each type has at most one. */
function changePrimaries(
  current: readonly ProfileIdentifierRow[],
  added: readonly ProfileIdentifierRow[],
  wanted: ReadonlySet<Uuid>,
): { promoted: Set<Uuid>; demoted: Set<Uuid> } {
  const primaries = [...current.filter(({ id }) => wanted.has(id)), ...added.filter(({ is_primary }) => is_primary)];
  const types = new Set(primaries.map(({ type }) => type));
  const ids = (rows: readonly ProfileIdentifierRow[]): Set<Uuid> => new Set(rows.map(({ id }) => id));
  return {
    promoted: ids(current.filter(({ id, is_primary }) => wanted.has(id) && !is_primary)),
    demoted: ids(current.filter(({ id, type, is_primary }) => is_primary && types.has(type) && !wanted.has(id))),
  };
}

function toIdentifierRow(
  { type, value, isPrimary }: WantedIdentifier,
  source: string,
  now: Micros,
): ProfileIdentifierRow {
  const time = formatMicros(now);
  const times = { verified_at: null, created_at: time, updated_at: time };
  return { id: newUuid(), type, value, is_primary: isPrimary, source, ...times };
}

function byId(one: { id: string }, other: { id: string }): number {
  return one.id < other.id ? -1 : 1;
}
