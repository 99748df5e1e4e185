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
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import { checkLimit, readPage } from "#shared/values/page.ts";
import type { Queryable } from "#shared/database/postgres.ts";
import { formatMicros, fromTimestamp, toRange } from "#shared/values/time.ts";
import type { ProfileContext } from "../context.ts";
import { normalizeIdentifier, type NormalIdentifier } from "#shared/values/identifiers.ts";
import { statusOfName, toProfile } from "../mapping.ts";
import { findOwners } from "../sql/identifiers.ts";
import { listProfiles as list, type ListShape } from "../sql/list.ts";
import { findTargets, readRow, type ProfileRow } from "../sql/profiles.ts";

const limitMax = 500;
const identifiersMax = 10;
const anyMax = 500;

type Sort = ListShape["sort"];

/** The parts of each ascending order, one after the other: profiles without an email follow those with one. */
const partsOf: Record<ProfileSort, readonly Sort[]> = {
  [ProfileSort.UNSPECIFIED]: ["created_at"],
  [ProfileSort.CREATED_AT]: ["created_at"],
  [ProfileSort.UPDATED_AT]: ["updated_at"],
  [ProfileSort.ID]: ["id"],
  [ProfileSort.EMAIL]: ["email", "without_email"],
};

/** A place in a list: a part of the order, and the place within it; without `after` the beginning of the part. */
interface Place {
  part: Sort;
  after?: readonly string[];
}

export function listProfiles({ reads }: ProfileContext): ServiceImpl<typeof ProfileService>["listProfiles"] {
  return async (request, { signal }) => {
    const { limit, ascending, tag } = request;
    checkLimit(limit, limitMax, "profiles");
    const property = decodeId("prop", request.propertyId, "property_id");
    const reader = reads.of(property, signal);
    const ids = await findWanted(reader, property, request);
    if (ids?.length === 0) return create(ListProfilesResponseSchema, {});
    const partsAscending = partsOf[request.sort] ?? ["created_at"];
    const parts = ascending ? partsAscending : partsAscending.toReversed();
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
    const read = async ({ part, after }: Place, count: number): Promise<ProfileRow[]> =>
      (await list(reader, { sort: part, ascending }, { ...values, after, limit: count })).map(readRow);
    const { rows, hasMore } = await readPage(limit, toPlace(request.sort, request.after), {
      read: async (place, count) => {
        const found: ProfileRow[] = [];
        for (const part of parts.slice(place ? parts.indexOf(place.part) : 0)) {
          const from = part === place?.part ? place : { part };
          if (found.length < count) found.push(...(await read(from, count - found.length)));
        }
        return found;
      },
      placeOf: (row) => placeOf(request.sort, row),
      sizeOf: ({ attributes }) => attributes.length,
    });
    const profiles = rows.map(toProfile);
    return create(ListProfilesResponseSchema, { profiles, hasMore });
  };

  /** @returns the ids that match all conditions on ids and identifiers; undefined without such conditions. */
  async function findWanted(
    reader: Queryable,
    property: Uuid,
    request: ListProfilesRequest,
  ): Promise<Uuid[] | undefined> {
    const sets: ReadonlySet<Uuid>[] = [];
    checkCount(request.profileIds.length, anyMax, "profile_ids");
    checkCount(request.anyIdentifiers.length, anyMax, "any_identifiers");
    checkCount(request.identifiers.length, identifiersMax, "identifiers");
    if (request.profileIds.length > 0) {
      const named = request.profileIds.map((id) => decodeId("prof", id, "profile_ids"));
      // A merged profile is replaced by its survivor, unless the list asks for merged profiles.
      const keepsMerged = request.status === ProfileStatus.MERGED;
      const targets = keepsMerged ? [] : await findTargets(reader, [property, [...new Set(named)]]);
      const survivorOf = new Map(targets.map(({ id, merged_into: survivor }) => [id, survivor ?? id]));
      sets.push(new Set(named.map((id) => survivorOf.get(id) ?? id)));
    }
    if (request.anyIdentifiers.length > 0) {
      const owners = await findOwnersOf(reader, property, request.anyIdentifiers, "any_identifiers");
      sets.push(new Set(owners.map(({ profile_id }) => profile_id)));
    }
    if (request.identifiers.length > 0) {
      const owners = await findOwnersOf(reader, property, request.identifiers, "identifiers");
      const holders = new Set(owners.map(({ profile_id }) => profile_id));
      // At most one profile can have all of them.
      const hasAll = owners.length === request.identifiers.length && holders.size === 1;
      sets.push(hasAll ? holders : new Set());
    }
    const [first, ...others] = sets;
    return first && [...first].filter((id) => others.every((set) => set.has(id)));
  }

  async function findOwnersOf(reader: Queryable, property: Uuid, inputs: readonly IdentifierInput[], param: string) {
    const readings = inputs.map((input, index) => normalizeIdentifier(input, `${param}.${index}`));
    const errors = readings.flatMap((reading) => ("errors" in reading ? reading.errors : []));
    if (errors.length > 0) throw DaybookError.ofFields(errors);
    return findOwners(reader, [property, readings as NormalIdentifier[]]);
  }
}

function checkCount(count: number, max: number, param: string): void {
  if (count <= max) return;
  throw new DaybookError("too_many_items", `There are at most ${max} of ${param} to look for.`, { param });
}

/** The place after a position; undefined for the beginning. */
function toPlace(sort: ProfileSort, after: ProfilePosition | undefined): Place | undefined {
  if (!after) return undefined;
  if (sort === ProfileSort.EMAIL && after.email !== undefined) return { part: "email", after: [after.email] };
  const id = decodeId("prof", after.profileId, "after");
  if (sort === ProfileSort.EMAIL) return { part: "without_email", after: [id] };
  if (sort === ProfileSort.ID) return { part: "id", after: [id] };
  const part = sort === ProfileSort.UPDATED_AT ? "updated_at" : "created_at";
  return after.time && { part, after: [formatMicros(fromTimestamp(after.time)), id] };
}

/** The place after a profile. */
function placeOf(sort: ProfileSort, row: ProfileRow): Place {
  if (sort === ProfileSort.EMAIL) {
    const emails = row.identifiers.filter(({ type }) => type === "email");
    const shown = emails.find(({ is_primary: isPrimary }) => isPrimary) ?? emails[0];
    return shown ? { part: "email", after: [shown.value] } : { part: "without_email", after: [row.id] };
  }
  if (sort === ProfileSort.ID) return { part: "id", after: [row.id] };
  const part = sort === ProfileSort.UPDATED_AT ? "updated_at" : "created_at";
  return { part, after: [formatMicros(row[part]), row.id] };
}
