/** Who a privacy request is about: the profiles, and everything that they are known by. */
import type { Uuid } from "#shared/values/ids.ts";
import type { NormalIdentifier } from "#shared/values/identifiers.ts";
import type { Queryable } from "#shared/database/postgres.ts";
import { distinct } from "../redaction.ts";
import { findOwners } from "../sql/identifiers.ts";
import { findSources } from "../sql/merges.ts";
import { findTargets, readProfiles, readRow } from "../sql/profiles.ts";

/** The profiles of a person, as they are now. */
export interface Person {
  /** Profiles that were not merged away. */
  survivors: Uuid[];
  /** Those, the profiles that were merged into them, and all that were found before; in order. */
  profiles: Uuid[];
  /** The identifiers of the profiles. */
  identifiers: NormalIdentifier[];
}

/** Finds the survivors of profiles, and the owners of identifiers. */
export async function findPerson(
  database: Queryable,
  property: Uuid,
  before: readonly Uuid[],
  named: readonly NormalIdentifier[],
): Promise<Person> {
  const owners = named.length === 0 ? [] : await findOwners(database, [property, named]);
  const found = [...new Set([...before, ...owners.map(({ profile_id: id }) => id)])];
  const targets = await findTargets(database, [property, found]);
  const survivors = [...new Set(targets.map(({ id, merged_into: survivor }) => survivor ?? id))].toSorted();
  const sources = await findSources(database, [property, survivors]);
  const rows = (await readProfiles(database, [property, survivors])).map(readRow);
  return {
    survivors,
    profiles: [...new Set([...found, ...survivors, ...sources.map(({ id }) => id)])].toSorted(),
    identifiers: distinct(rows.flatMap(({ identifiers }) => identifiers)),
  };
}
