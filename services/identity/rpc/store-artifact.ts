import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { StoreArtifactResponseSchema, type OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros, fromTimestamp } from "#shared/values/time.ts";
import { artifactsPerGrantMax, readStored } from "../domain/artifacts.ts";
import { storeArtifact as store, trimArtifacts } from "../sql/oauth-artifacts.ts";

export function storeArtifact({ database, clock }: ServiceContext): ServiceImpl<typeof OAuthService>["storeArtifact"] {
  return async (request) => {
    const { payloadJson, grantId, scopes, predecessorHash } = request;
    const input = { ...request, expiresAt: request.expiresAt && fromTimestamp(request.expiresAt) };
    const { kind, idHash, expiresAt } = readStored(input, clock.nowMicros());
    const grant = grantId === undefined ? null : decodeId("grnt", grantId, "grant_id");
    const kept = await store(database, [
      kind,
      idHash,
      payloadJson,
      grant,
      kind === "access_token" ? [...new Set(scopes)] : null,
      predecessorHash ? Buffer.from(predecessorHash) : null,
      formatMicros(expiresAt),
    ]);
    if (grant !== null && kept.length > 0) await trimArtifacts(database, [grant, kind, artifactsPerGrantMax]);
    return create(StoreArtifactResponseSchema);
  };
}
