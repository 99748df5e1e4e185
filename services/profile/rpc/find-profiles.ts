import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { FindProfilesResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Queryable } from "#shared/database/postgres.ts";
import { textProblem } from "#shared/json/json.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { isPhone, readValue, valueLengthMax, type NormalIdentifier } from "#shared/values/identifiers.ts";
import { decodeId, encodeId, tryDecodeId, type Uuid } from "#shared/values/ids.ts";
import { isLongerThan } from "#shared/values/text.ts";
import type { ProfileContext } from "../context.ts";
import { toProfile } from "../mapping.ts";
import { findByRef, findIdentifierTypes } from "../sql/finding.ts";
import { findOwners } from "../sql/identifiers.ts";
import { readProfiles, readRow } from "../sql/profiles.ts";

const foundMax = 20;
const typesMax = 100;

/** How a profile was found. */
interface Match {
  id: Uuid;
  matchedBy: "id" | "profile_ref" | "identifier";
  identifierType?: string;
}

export function findProfiles({ reads }: ProfileContext): ServiceImpl<typeof ProfileService>["findProfiles"] {
  return async ({ propertyId, text }, { signal }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const wanted = readText(text);
    return reads.of(property, signal).inSnapshot(async (snapshot) => {
      const types = await findIdentifierTypes(snapshot, [property, typesMax + 1]);
      const looked = types.slice(0, typesMax).map(({ type }) => type);
      const matches = await findMatches(snapshot, property, wanted, looked);
      const profiles = await readFound(snapshot, property, matches);
      return create(FindProfilesResponseSchema, { profiles, isCut: types.length > typesMax });
    });
  };
}

/** @returns the text without spaces around it. @throws DaybookError */
function readText(text: string): string {
  const refuse = (reason: string): never => {
    throw new DaybookError("parameter_invalid", `\`text\` ${reason}.`, { param: "text" });
  };
  // Before any other work on it.
  if (isLongerThan(text, valueLengthMax)) refuse(`has at most ${valueLengthMax} characters`);
  const problem = textProblem(text);
  if (problem !== undefined) refuse(problem);
  return text.trim() || refuse("has at least 1 character that is no space");
}

/** Each profile once, by the first match. */
async function findMatches(
  snapshot: Queryable,
  property: Uuid,
  text: string,
  types: readonly string[],
): Promise<Match[]> {
  const matches: Match[] = [];
  const id = tryDecodeId("prof", text);
  if (id !== undefined) matches.push({ id, matchedBy: "id" });
  for (const row of await findByRef(snapshot, [property, text])) matches.push({ ...row, matchedBy: "profile_ref" });
  const identifiers = types.flatMap((type): NormalIdentifier[] => {
    const reading = readValue(type, type === "phone" ? phoneOf(text) : text, "text");
    return "value" in reading ? [{ type, value: reading.value }] : [];
  });
  const owners = identifiers.length === 0 ? [] : await findOwners(snapshot, [property, identifiers]);
  for (const { type, profile_id: owner } of owners.toSorted((one, other) => (one.type < other.type ? -1 : 1))) {
    matches.push({ id: owner, matchedBy: "identifier", identifierType: type });
  }
  return [...new Map(matches.toReversed().map((match) => [match.id, match])).values()].toReversed().slice(0, foundMax);
}

async function readFound(snapshot: Queryable, property: Uuid, matches: readonly Match[]) {
  const rowsOf = async (ids: readonly Uuid[]) =>
    new Map((await readProfiles(snapshot, [property, ids])).map((row) => [row.id, row]));
  const named = await rowsOf(matches.map(({ id }) => id));
  const survivorIds = [...named.values()].flatMap(({ merged_into: survivor }) => survivor ?? []);
  // A merged profile points to the end of its chain.
  const survivors = await rowsOf(survivorIds);
  return matches.flatMap(({ id, matchedBy, identifierType }) => {
    const row = named.get(id);
    const shown = row?.merged_into ? survivors.get(row.merged_into) : row;
    if (!row || !shown) return [];
    return [
      {
        profile: toProfile(readRow(shown)),
        matchedBy,
        ...(identifierType === undefined ? {} : { identifierType }),
        ...(shown === row ? {} : { resolvedFrom: encodeId("prof", id) }),
      },
    ];
  });
}

/** A phone number as it is stored, from one with separators, or with 00 in place of the plus. */
function phoneOf(text: string): string {
  const number = text.replaceAll(/[\s()./-]/g, "").replace(/^00/, "+");
  return isPhone(number) ? number : text;
}
