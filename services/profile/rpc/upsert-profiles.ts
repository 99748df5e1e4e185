import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  UpsertProfilesResponseSchema,
  UpsertProfilesResultSchema,
  type ProfileService,
  type UpsertProfileRequest,
  type UpsertProfilesResult,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError, toErrorMessage } from "#shared/errors.ts";
import { decodeId, encodeId } from "#shared/ids.ts";
import { checkItemCount } from "#shared/limits.ts";
import type { ProfileContext } from "../context.ts";
import { upsert } from "../upsert.ts";

const itemsMax = 100;

export function upsertProfiles(context: ProfileContext): ServiceImpl<typeof ProfileService>["upsertProfiles"] {
  return async ({ propertyId, items }) => {
    checkItemCount(items.length, itemsMax, "items");
    const property = decodeId("prop", propertyId, "property_id");
    const results: UpsertProfilesResult[] = [];
    // One after the other: of two items for one person the later one has the last word.
    for (const item of items) results.push(await upsertItem(context, property, item));
    return create(UpsertProfilesResponseSchema, { results });
  };
}

async function upsertItem(
  context: ProfileContext,
  property: string,
  item: UpsertProfileRequest,
): Promise<UpsertProfilesResult> {
  try {
    const { row, created, replayed } = await upsert(context, property, item);
    const value = { profileId: encodeId("prof", row.id), created, replayed };
    return create(UpsertProfilesResultSchema, { outcome: { case: "upserted", value } });
  } catch (error) {
    if (!(error instanceof DaybookError)) throw error;
    return create(UpsertProfilesResultSchema, { outcome: { case: "error", value: toErrorMessage(error) } });
  }
}
