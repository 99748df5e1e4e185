/**
 * Writes to profiles, right whatever races. A write reads the profile with its version, decides what to write, and writes only if the version
 * is still the same: two statements and no lock. When it loses it is tried again in a transaction that holds the profile, so that it gets its
 * turn however many want the same one. The version stands for all that the profile shows, identifiers among it.
 */
import type { Micros } from "#shared/clock.ts";
import { DaybookError, serviceUnavailable } from "#shared/errors.ts";
import type { Precondition } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId, encodeId, newUuid } from "#shared/ids.ts";
import { isTransient, isUniqueViolation, withTransaction, type Queryable, type Transaction } from "#shared/postgres.ts";
import { formatMicros } from "#shared/time.ts";
import { createdMessage, identifiedMessages, subject } from "./announce.ts";
import type { ProfileContext } from "./context.ts";
import { checkPrecondition } from "./convert.ts";
import { identifiersPerProfileMax, type WantedIdentifier } from "./domain/identifiers.ts";
import { isSameLocation, type StoredLocation } from "./domain/location.ts";
import { newProfileRef } from "./domain/ref.ts";
import { deleteIdentifiers, markIdentifiers } from "./sql/identifiers.ts";
import {
  insertProfile,
  lockProfiles,
  readProfiles,
  readRow,
  updateProfile,
  type ProfileIdentifierRow,
  type ProfileRow,
} from "./sql/profiles.ts";

/** One try of a write. */
export interface Turn {
  database: Queryable;
  /** The transaction, in a turn that has one. */
  tx: Transaction | undefined;
  /** Profiles that nobody else can write to until its end. */
  held: ReadonlySet<string>;
  property: string;
  now: Micros;
}

// Whoever loses a turn lost it to one who got theirs; from the second on only identifiers can be lost.
const turnsMax = 20;

/** Somebody else wrote between the look and the write. What this turn did is undone; the next one holds these profiles. */
export class LostRace extends Error {
  readonly profiles: readonly string[];

  constructor(profiles: readonly string[] = []) {
    super("somebody else was faster");
    this.profiles = profiles;
  }
}

/**
 * Tries a write until it has not lost a race.
 * @param hold profiles to hold from the first turn on; an empty list asks for a transaction that holds none.
 */
export async function inTurns<T>(
  { database, clock, relay }: ProfileContext,
  property: string,
  attempt: (turn: Turn) => Promise<T>,
  hold?: readonly string[],
): Promise<T> {
  let wanted = hold;
  for (let turn = 1; turn <= turnsMax; turn++) {
    try {
      const result = await takeTurn(wanted);
      relay.wake();
      return result;
    } catch (error) {
      if (error instanceof LostRace) wanted = [...new Set([...(hold ?? []), ...error.profiles])];
      else if (isUniqueViolation(error) || isTransient(error)) wanted ??= [];
      else throw error;
    }
  }
  throw serviceUnavailable(new Error("a write lost every race"));

  function takeTurn(profiles: readonly string[] | undefined): Promise<T> {
    const now = clock.nowMicros();
    if (!profiles) return attempt({ database, tx: undefined, held: new Set(), property, now });
    return withTransaction(database, async (tx) => {
      if (profiles.length > 0) await lockProfiles(tx, [property, profiles]);
      return attempt({ database: tx, tx, held: new Set(profiles), property, now });
    });
  }
}

/** The profile that a write by id goes to. */
export interface Target {
  row: ProfileRow;
  /** The merged profile that was named, if it was. */
  resolvedFrom: string | undefined;
}

/**
 * Finds the profile that a write by id goes to: the survivor, when the one named is merged.
 * @throws DaybookError `resource_not_found` or `profile_redacted`, with `param`.
 */
export async function findTarget(turn: Turn, id: string, param: string): Promise<Target> {
  const [named] = await readProfiles(turn.database, [turn.property, [id]]);
  if (!named) throw new DaybookError("resource_not_found", "There is no such profile.", { param });
  const survivor = named.merged_into;
  const [row] = survivor === null ? [named] : await readProfiles(turn.database, [turn.property, [survivor]]);
  // Merged away itself since the look at the one named.
  if (!row || row.status === "merged") throw new LostRace([id]);
  if (row.status === "redacted") throw redacted(param);
  return { row: readRow(row), resolvedFrom: survivor === null ? undefined : encodeId("prof", id) };
}

/** What a request says of the profile that it writes to. */
export interface WriteRequest {
  propertyId: string;
  profileId: string;
  precondition?: Precondition;
}

/**
 * Writes to a profile by its id.
 * @param decide what to write, by the profile as it is; called once in each turn.
 * @returns the profile after the write, and what to answer of the id that was named.
 * @throws DaybookError `invalid_id`, `resource_not_found`, `profile_redacted`, `precondition_failed`, and what `decide` throws.
 */
export async function writeToProfile(
  context: ProfileContext,
  request: WriteRequest,
  decide: (row: ProfileRow, turn: Turn) => Edit | Promise<Edit>,
): Promise<{ row: ProfileRow; resolved: { resolvedFrom?: string } }> {
  const property = decodeId("prop", request.propertyId, "property_id");
  const id = decodeId("prof", request.profileId, "profile_id");
  return inTurns(context, property, async (turn) => {
    const { row, resolvedFrom } = await findTarget(turn, id, "profile_id");
    checkPrecondition(request.precondition, row.version);
    const saved = await save(turn, row, await decide(row, turn));
    return { row: saved, resolved: resolvedFrom === undefined ? {} : { resolvedFrom } };
  });
}

/** The error for whatever is to be written to a redacted profile. */
export function redacted(param: string): DaybookError {
  return new DaybookError("profile_redacted", "The profile is redacted: nothing more is kept of this person.", {
    param,
  });
}

/** What a new profile is made of. */
export interface NewProfile {
  identifiers: readonly WantedIdentifier[];
  attributes: string;
  location: StoredLocation | null;
  source: string;
}

/** Makes a profile. Fails as a lost race when anybody has one of the identifiers. */
export async function insert(turn: Turn, profile: NewProfile): Promise<ProfileRow> {
  const { property, now } = turn;
  const { attributes, location, source } = profile;
  const id = newUuid();
  const identifiers = profile.identifiers.map((identifier) => toIdentifierRow(identifier, source, now));
  const message = createdMessage(property, id, now, profile.identifiers);
  const [created] = await insertProfile(turn.database, [
    property,
    id,
    attributes,
    location,
    newProfileRef(),
    formatMicros(now),
    source,
    ...identifierColumns(identifiers),
    message.id,
    subject,
    message.payload,
  ]);
  if (!created) throw new Error("the profile was not made");
  return {
    id,
    status: "active",
    attributes,
    tags: [],
    location,
    merged_into: null,
    version: 1,
    profile_ref: created.profile_ref,
    created_at: now,
    updated_at: now,
    identifiers: identifiers.toSorted(byId),
  };
}

/** What is to change of a profile; what is left out stays. */
export interface Edit {
  attributes?: string;
  location?: StoredLocation | null;
  tags?: readonly string[];
  /** Identifiers that it does not have. */
  added?: readonly WantedIdentifier[];
  /** Where those come from. */
  source?: string;
  /** Ids of identifiers that are to be the primary ones of their types. */
  promoted?: readonly string[];
  /** Ids of identifiers that it is to lose. */
  removed?: readonly string[];
  /** It changes beside what is written here. */
  touched?: boolean;
}

/** Writes to a profile, unless that would change nothing. @returns the profile as it then is. */
export async function save(turn: Turn, row: ProfileRow, edit: Edit): Promise<ProfileRow> {
  const { database, property, now } = turn;
  const { attributes = row.attributes, location = row.location, tags = row.tags, source = "" } = edit;
  const added = (edit.added ?? []).map((identifier) => toIdentifierRow(identifier, source, now));
  const removed = new Set(edit.removed);
  const { promoted, demoted } = changePrimaries(row.identifiers, added, new Set(edit.promoted));
  const isChanged =
    edit.touched === true ||
    added.length + removed.size + promoted.size + demoted.size > 0 ||
    attributes !== row.attributes ||
    tags.join("\0") !== row.tags.join("\0") ||
    !isSameLocation(location, row.location);
  if (!isChanged) return row;
  if (added.length > 0 && row.identifiers.length + added.length > identifiersPerProfileMax) {
    const message = `A profile has at most ${identifiersPerProfileMax} identifiers.`;
    throw new DaybookError("too_many_items", message, { param: "identifiers" });
  }
  // Several statements are needed, in this order, because a type never has two primary identifiers.
  if (removed.size + promoted.size + demoted.size > 0 && !turn.held.has(row.id)) throw new LostRace([row.id]);

  if (demoted.size > 0) await markIdentifiers(database, [property, row.id, [...demoted], false, formatMicros(now)]);
  const updatedAt = Math.max(now, row.updated_at);
  const messages = identifiedMessages(property, row.id, now, added);
  const [written] = await updateProfile(database, [
    property,
    row.id,
    row.version,
    attributes,
    location,
    tags,
    formatMicros(updatedAt),
    source,
    formatMicros(now),
    ...identifierColumns(added),
    messages.map(({ id }) => id),
    messages.map(({ payload }) => payload),
    subject,
  ]);
  if (!written) throw new LostRace([row.id]);
  if (promoted.size > 0) await markIdentifiers(database, [property, row.id, [...promoted], true, formatMicros(now)]);
  if (removed.size > 0) await deleteIdentifiers(database, [property, row.id, [...removed]]);

  const kept = row.identifiers.filter(({ id }) => !removed.has(id));
  const marked = kept.map((identifier): ProfileIdentifierRow => {
    const { id } = identifier;
    if (!promoted.has(id) && !demoted.has(id)) return identifier;
    return { ...identifier, is_primary: promoted.has(id), updated_at: formatMicros(now) };
  });
  return {
    ...row,
    attributes,
    location,
    tags: [...tags],
    version: written.version,
    updated_at: updatedAt,
    identifiers: [...marked, ...added].toSorted(byId),
  };
}

/** Which identifiers gain the primary mark and which lose it, so that a type has one at the most. */
function changePrimaries(
  current: readonly ProfileIdentifierRow[],
  added: readonly ProfileIdentifierRow[],
  wanted: ReadonlySet<string>,
): { promoted: Set<string>; demoted: Set<string> } {
  const primaries = [...current.filter(({ id }) => wanted.has(id)), ...added.filter(({ is_primary }) => is_primary)];
  const types = new Set(primaries.map(({ type }) => type));
  const ids = (rows: readonly ProfileIdentifierRow[]): Set<string> => new Set(rows.map(({ id }) => id));
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

function identifierColumns(rows: readonly ProfileIdentifierRow[]): unknown[][] {
  return [
    rows.map(({ id }) => id),
    rows.map(({ type }) => type),
    rows.map(({ value }) => value),
    rows.map(({ is_primary }) => is_primary),
  ];
}

function byId(one: { id: string }, other: { id: string }): number {
  return one.id < other.id ? -1 : 1;
}
