import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { DeleteArtifactResponseSchema, type OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { readRef } from "../domain/artifacts.ts";
import { deleteArtifact as remove } from "../sql/oauth-artifacts.ts";

export function deleteArtifact({ database }: ServiceContext): ServiceImpl<typeof OAuthService>["deleteArtifact"] {
  return async (request) => {
    const { kind, idHash } = readRef(request);
    await remove(database, [kind, idHash]);
    return create(DeleteArtifactResponseSchema);
  };
}
