import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { FindArtifactResponseSchema, type OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { formatMicros } from "#shared/values/time.ts";
import { readRef } from "../domain/artifacts.ts";
import { findArtifact as find } from "../sql/oauth-artifacts.ts";

export function findArtifact({ database, clock }: ServiceContext): ServiceImpl<typeof OAuthService>["findArtifact"] {
  return async (request) => {
    const { kind, idHash } = readRef(request);
    const [row] = await find(database, [kind, idHash, formatMicros(clock.nowMicros())]);
    if (!row) throw new DaybookError("resource_not_found", "There is no such artifact.", { param: "id_hash" });
    // Whether a code or a refresh token is used up depends on more, so ConsumeArtifact alone says it.
    const isConsumed = kind === "pushed_request" && row.consumed_at !== null;
    return create(FindArtifactResponseSchema, { payloadJson: row.payload, isConsumed });
  };
}
