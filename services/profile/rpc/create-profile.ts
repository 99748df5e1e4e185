import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  CreateProfileResponseSchema,
  type CreateProfileRequest,
  type ProfileService,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import type { FieldError } from "#shared/values/errors.ts";
import type { ProfileContext } from "../context.ts";
import { changeFields, noFields } from "../convert.ts";
import { identifiersPerWriteMax, readIdentifiers } from "#shared/values/identifiers.ts";
import { findHolders, identityConflict } from "../holders.ts";
import { toProfile } from "../mapping.ts";
import type { ProfileRow } from "../sql/profiles.ts";
import { oncePerOperation } from "../operations.ts";
import { insert } from "../writing.ts";

export function createProfile(context: ProfileContext): ServiceImpl<typeof ProfileService>["createProfile"] {
  return async (request) => {
    const row = await make(context, request);
    return create(CreateProfileResponseSchema, { profile: toProfile(row) });
  };
}

async function make(context: ProfileContext, request: CreateProfileRequest): Promise<ProfileRow> {
  checkItemCount(request.identifiers.length, identifiersPerWriteMax, "identifiers");
  const property = decodeId("prop", request.propertyId, "property_id");
  const faults: FieldError[] = [];
  const identifiers = readIdentifiers(request.identifiers, faults);
  const profile = { identifiers, ...changeFields(noFields, request, faults), source: request.source };
  const made = await oncePerOperation(context, property, request, async (attempt) => {
    const holders = await findHolders(attempt, profile.identifiers);
    if (holders.length > 0) {
      throw identityConflict("Update that profile instead of creating one.", profile.identifiers, holders);
    }
    return { row: await insert(attempt, profile) };
  });
  return made.row;
}
