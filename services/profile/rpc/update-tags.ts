import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { UpdateTagsResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { ProfileContext } from "../context.ts";
import { changeTags } from "../domain/tags.ts";
import { toProfile } from "../mapping.ts";
import { writeToProfile } from "../writing.ts";

export function updateTags(context: ProfileContext): ServiceImpl<typeof ProfileService>["updateTags"] {
  return async (request) => {
    const { row, resolved } = await writeToProfile(context, request, ({ tags }) => ({
      tags: changeTags(tags, request),
    }));
    return create(UpdateTagsResponseSchema, { profile: toProfile(row), ...resolved });
  };
}
