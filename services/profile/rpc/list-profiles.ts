import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  ListProfilesResponseSchema,
  ProfileSort,
  ProfileStatus,
  type IdentifierInput,
  type ListProfilesRequest,
  type ProfilePosition,
  type ProfileService,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { decodeId } from "#shared/ids.ts";
import { readPage } from "#shared/page.ts";
import { formatMicros, fromTimestamp, toRange } from "#shared/time.ts";
import type { ProfileContext } from "../context.ts";
import { normalizeIdentifier, type NormalIdentifier } from "../domain/identifiers.ts";
import { statusOfName, toProfile } from "../mapping.ts";
import { findOwners } from "../sql/identifiers.ts";
import { listProfiles as list, type ListShape } from "../sql/list.ts";
import { readRow, type ProfileRow } from "../sql/profiles.ts";

const limitMax = 500;
const identifiersMax = 10;
const anyMax = 500;

const sortOf: Record<ProfileSort, ListShape["sort"]> = {
  [ProfileSort.UNSPECIFIED]: "created_at",
  [ProfileSort.CREATED_AT]: "created_at",
  [ProfileSort.UPDATED_AT]: "updated_at",
  [ProfileSort.ID]: "id",
  [ProfileSort.EMAIL]: "email",
};

export function listProfiles({ database }: ProfileContext): ServiceImpl<typeof ProfileService>["listProfiles"] {
  return async (request) => {
    const { limit, ascending, tag } = request;
    if (limit < 1 || limit > limitMax) {
      throw new DaybookError("parameter_invalid", `A page has 1 to ${limitMax} profiles.`, { param: "limit" });
    }
    const property = decodeId("prop", request.propertyId, "property_id");
    const ids = await findWanted(property, request);
    if (ids?.length === 0) return create(ListProfilesResponseSchema, {});
    const sort = sortOf[request.sort] ?? "created_at";
    const wanted = request.status === ProfileStatus.UNSPECIFIED ? ProfileStatus.ACTIVE : request.status;
    const [status] = Object.entries(statusOfName).find(([, value]) => value === wanted) ?? [];
    if (status === undefined)
      throw new DaybookError("parameter_invalid", "There is no such status.", { param: "status" });
    const values = {
      property,
      status,
      ids,
      tag,
      createdAt: toRange(request.createdAt),
      updatedAt: toRange(request.updatedAt),
    };
    const { rows, hasMore } = await readPage(limit, toPlace(sort, request.after), {
      read: async (place, count) =>
        (await list(database, { sort, ascending }, { ...values, after: place, limit: count })).map(readRow),
      placeOf: (row) => placeOf(sort, row),
      sizeOf: ({ attributes }) => attributes.length,
    });
    const profiles = rows.map(toProfile);
    return create(ListProfilesResponseSchema, { profiles, hasMore });
  };

  /** @returns the ids that fulfil every condition that names profiles or identifiers; undefined when there is none. */
  async function findWanted(property: string, request: ListProfilesRequest): Promise<string[] | undefined> {
    const sets: ReadonlySet<string>[] = [];
    checkCount(request.profileIds.length, anyMax, "profile_ids");
    checkCount(request.anyIdentifiers.length, anyMax, "any_identifiers");
    checkCount(request.identifiers.length, identifiersMax, "identifiers");
    if (request.profileIds.length > 0) {
      sets.push(new Set(request.profileIds.map((id) => decodeId("prof", id, "profile_ids"))));
    }
    if (request.anyIdentifiers.length > 0) {
      const owners = await findOwnersOf(property, request.anyIdentifiers, "any_identifiers");
      sets.push(new Set(owners.map(({ profile_id }) => profile_id)));
    }
    if (request.identifiers.length > 0) {
      const owners = await findOwnersOf(property, request.identifiers, "identifiers");
      const holders = new Set(owners.map(({ profile_id }) => profile_id));
      // Whoever has them all is one or nobody.
      const hasAll = owners.length === request.identifiers.length && holders.size === 1;
      sets.push(hasAll ? holders : new Set());
    }
    const [first, ...others] = sets;
    return first && [...first].filter((id) => others.every((set) => set.has(id)));
  }

  async function findOwnersOf(property: string, inputs: readonly IdentifierInput[], param: string) {
    const readings = inputs.map((input, index) => normalizeIdentifier(input, `${param}.${index}`));
    const errors = readings.flatMap((reading) => ("errors" in reading ? reading.errors : []));
    if (errors.length > 0) throw DaybookError.ofFields(errors);
    const wanted = readings as NormalIdentifier[];
    return findOwners(database, [property, wanted.map(({ type }) => type), wanted.map(({ value }) => value)]);
  }
}

function checkCount(count: number, max: number, param: string): void {
  if (count <= max) return;
  throw new DaybookError("too_many_items", `There are at most ${max} of ${param} to look for.`, { param });
}

/** A place in a list, as its order names it; undefined for its beginning. */
function toPlace(sort: ListShape["sort"], after: ProfilePosition | undefined): string[] | undefined {
  if (!after) return undefined;
  if (sort === "email") return after.email === undefined ? undefined : [after.email];
  const id = decodeId("prof", after.profileId, "after");
  if (sort === "id") return [id];
  return after.time && [formatMicros(fromTimestamp(after.time)), id];
}

/** Where a list goes on behind a profile. */
function placeOf(sort: ListShape["sort"], row: ProfileRow): string[] {
  if (sort === "email") {
    const emails = row.identifiers.filter(({ type }) => type === "email");
    const { value = "" } = emails.find(({ is_primary: isPrimary }) => isPrimary) ?? emails[0] ?? {};
    return [value];
  }
  return sort === "id" ? [row.id] : [formatMicros(row[sort]), row.id];
}
