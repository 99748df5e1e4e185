import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  UpsertProfilesResponseSchema,
  UpsertProfilesResultSchema,
  type ProfileService,
  type UpsertProfilesResult,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { toErrorMessage } from "#shared/rpc/errors.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import type { ProfileContext } from "../context.ts";
import { toProfile } from "../mapping.ts";
import { upsertMany, type UpsertOutcome } from "../upsert-many.ts";

const itemsMax = 100;

export function upsertProfiles(context: ProfileContext): ServiceImpl<typeof ProfileService>["upsertProfiles"] {
  return async ({ propertyId, items, returnProfiles, skipContended }) => {
    checkItemCount(items.length, itemsMax, "items");
    const property = decodeId("prop", propertyId, "property_id");
    const outcomes = await upsertMany(context, property, items, skipContended);
    return create(UpsertProfilesResponseSchema, {
      results: outcomes.map((outcome) => toResult(outcome, returnProfiles)),
    });
  };
}

function toResult(outcome: UpsertOutcome, returnProfiles: boolean): UpsertProfilesResult {
  if (outcome === "contended") {
    return create(UpsertProfilesResultSchema, { outcome: { case: "contended", value: {} } });
  }
  if (outcome instanceof DaybookError) {
    return create(UpsertProfilesResultSchema, { outcome: { case: "error", value: toErrorMessage(outcome) } });
  }
  const { row, created, replayed } = outcome;
  const value = {
    profileId: encodeId("prof", row.id),
    created,
    replayed,
    ...(returnProfiles ? { profile: toProfile(row) } : {}),
  };
  return create(UpsertProfilesResultSchema, { outcome: { case: "upserted", value } });
}
