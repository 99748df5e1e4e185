import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  ListProfilesResponseSchema,
  ProfileSort,
  ProfileStatus,
  type ListProfilesRequest,
  type ProfileService,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { decodeId } from "#shared/ids.ts";
import { formatMicros, fromTimestamp, toRange } from "#shared/time.ts";
import type { ProfileContext } from "../context.ts";
import { normalizeIdentifier, type NormalIdentifier } from "../domain/identifiers.ts";
import { statusOfName, toProfile } from "../mapping.ts";
import { findOwners } from "../sql/identifiers.ts";
import { listProfiles as list } from "../sql/list.ts";
import { readRow } from "../sql/profiles.ts";

const limitMax = 500;
const identifiersMax = 10;

export function listProfiles({ database }: ProfileContext): ServiceImpl<typeof ProfileService>["listProfiles"] {
  return async (request) => {
    const { limit, ascending, after, tag } = request;
    if (limit < 1 || limit > limitMax) {
      throw new DaybookError("parameter_invalid", `A page has 1 to ${limitMax} profiles.`, { param: "limit" });
    }
    const property = decodeId("prop", request.propertyId, "property_id");
    const holders = await findHoldersOfAll(property, request);
    if (holders?.length === 0) return create(ListProfilesResponseSchema, {});
    const sort = request.sort === ProfileSort.UPDATED_AT ? "updated_at" : "created_at";
    const wanted = request.status === ProfileStatus.UNSPECIFIED ? ProfileStatus.ACTIVE : request.status;
    const [status] = Object.entries(statusOfName).find(([, value]) => value === wanted) ?? [];
    if (status === undefined)
      throw new DaybookError("parameter_invalid", "There is no such status.", { param: "status" });
    const rows = await list(
      database,
      { sort, ascending },
      {
        property,
        status,
        id: holders?.[0],
        tag,
        createdAt: toRange(request.createdAt),
        updatedAt: toRange(request.updatedAt),
        after: after?.time && {
          time: formatMicros(fromTimestamp(after.time)),
          id: decodeId("prof", after.profileId, "after"),
        },
        // One more than asked for tells whether more follow.
        limit: limit + 1,
      },
    );
    const profiles = rows.slice(0, limit).map((row) => toProfile(readRow(row)));
    return create(ListProfilesResponseSchema, { profiles, hasMore: rows.length > limit });
  };

  /** @returns the ids of the profiles that have all of the identifiers asked for, which is one or none; undefined when none is asked for. */
  async function findHoldersOfAll(property: string, request: ListProfilesRequest): Promise<string[] | undefined> {
    if (request.identifiers.length === 0) return undefined;
    if (request.identifiers.length > identifiersMax) {
      const message = `There are at most ${identifiersMax} identifiers to look for.`;
      throw new DaybookError("too_many_items", message, { param: "identifiers" });
    }
    const readings = request.identifiers.map((input, index) => normalizeIdentifier(input, `identifiers.${index}`));
    const errors = readings.flatMap((reading) => ("errors" in reading ? reading.errors : []));
    if (errors.length > 0) throw DaybookError.ofFields(errors);
    const wanted = readings as NormalIdentifier[];
    const columns = [wanted.map(({ type }) => type), wanted.map(({ value }) => value)];
    const owners = await findOwners(database, [property, ...columns]);
    const holders = new Set(owners.map(({ profile_id }) => profile_id));
    return owners.length === wanted.length && holders.size === 1 ? [...holders] : [];
  }
}
