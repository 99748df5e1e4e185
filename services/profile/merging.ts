/** What a merge of two profiles does: MergeProfiles carries it out, and PreviewMerge shows it. */
import type { JsonObject } from "@bufbuild/protobuf";
import type { Queryable } from "#shared/database/postgres.ts";
import { canonicalJson, parseJson } from "#shared/json/json.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { identifiersPerProfileMax } from "#shared/values/identifiers.ts";
import { encodeId, type Uuid } from "#shared/values/ids.ts";
import { locationFields } from "#shared/values/location.ts";
import { mergeAttributes } from "./domain/attributes.ts";
import { mergeLocations, type StoredLocation } from "./domain/location.ts";
import type { Moved } from "./domain/moved.ts";
import { readProfiles, readRow, type ProfileRow } from "./sql/profiles.ts";

/** A merge that can be carried out. */
export interface MergePlan {
  survivor: ProfileRow;
  source: ProfileRow;
  /** The fields of the survivor afterwards. */
  attributes: string;
  location: StoredLocation | null;
  tags: string[];
  /** Identifiers that keep being primary only if their type is none of these. */
  primaryTypes: string[];
  moved: Moved;
}

/**
 * Reads two profiles and plans their merge.
 * @param check of the survivor, before the plan.
 * @throws DaybookError `resource_not_found`, `invalid_state_transition`, `too_many_items`, `parameter_invalid`.
 */
export async function planMerge(
  database: Queryable,
  property: Uuid,
  { survivorId, sourceId }: { survivorId: Uuid; sourceId: Uuid },
  check?: (survivor: { version: number }) => void,
): Promise<MergePlan> {
  const stored = await readProfiles(database, [property, [survivorId, sourceId]]);
  const rows = new Map(stored.map((row) => [row.id, row]));
  const [survivor, source] = [rows.get(survivorId), rows.get(sourceId)];
  if (!survivor) throw notFound("profile_id");
  if (!source) throw notFound("source_profile_id");
  if (survivorId === sourceId) throw impossible("A profile cannot be merged into itself.", "source_profile_id");
  if (survivor.status !== "active") throw impossible(`This profile is ${survivor.status}.`, "profile_id");
  if (source.status !== "active") throw impossible(`The source is ${source.status}.`, "source_profile_id");
  check?.(survivor);
  return planOf(readRow(survivor), readRow(source));
}

function planOf(survivor: ProfileRow, source: ProfileRow): MergePlan {
  const identifierCount = survivor.identifiers.length + source.identifiers.length;
  if (identifierCount > identifiersPerProfileMax) {
    const message =
      `The merge would give the profile ${identifierCount} identifiers, ` +
      `and a profile has at most ${identifiersPerProfileMax}. Remove some first.`;
    throw new DaybookError("too_many_items", message, { param: "source_profile_id" });
  }
  const { attributes, moved: movedAttributes } = mergeAttributes(survivor.attributes, source.attributes);
  const { location, moved: movedLocation } = mergeLocations(survivor.location, source.location);
  const movedTags = source.tags.filter((tag) => !survivor.tags.includes(tag));
  return {
    survivor,
    source,
    attributes,
    location,
    tags: [...survivor.tags, ...movedTags],
    primaryTypes: survivor.identifiers.filter(({ is_primary }) => is_primary).map(({ type }) => type),
    moved: {
      identifier_ids: source.identifiers.map(({ id }) => encodeId("idnt", id)),
      attributes: movedAttributes,
      tags: movedTags,
      location: movedLocation,
    },
  };
}

/** The survivor as the merge leaves it, but for its version and the times of its writes. */
export function survivorOf({ survivor, source, attributes, location, tags, primaryTypes }: MergePlan): ProfileRow {
  const gained = source.identifiers.map((identifier) => ({
    ...identifier,
    is_primary: identifier.is_primary && !primaryTypes.includes(identifier.type),
  }));
  // In order of id, as they are read.
  const identifiers = [...survivor.identifiers, ...gained].toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return { ...survivor, attributes, location, tags, identifiers };
}

/** What both profiles have with other values: keys of attributes, and fields of the location. The source's are lost. */
export function conflictsOf({ survivor, source }: MergePlan): { attributes: string[]; location: string[] } {
  const mine = parseJson(survivor.attributes) as JsonObject;
  const theirs = parseJson(source.attributes) as JsonObject;
  const isOther = (one: unknown, other: unknown): boolean => canonicalJson(one) !== canonicalJson(other);
  return {
    attributes: Object.keys(theirs).filter((key) => Object.hasOwn(mine, key) && isOther(mine[key], theirs[key])),
    location: locationFields.filter((field) => {
      const [own, other] = [survivor.location?.[field], source.location?.[field]];
      return own !== undefined && other !== undefined && own !== other;
    }),
  };
}

function notFound(param: string): DaybookError {
  return new DaybookError("resource_not_found", "There is no such profile.", { param });
}

function impossible(message: string, param: string): DaybookError {
  return new DaybookError("invalid_state_transition", message, { param });
}
