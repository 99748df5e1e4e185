import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { AuthenticateTokenResponseSchema, type OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import { toInstallation } from "../apps/mapping.ts";
import { callerRefused } from "../callers.ts";
import { tokenHashBytes } from "../domain/token.ts";
import { leaseTo, readWishes } from "../leases.ts";
import { toJoinedProperty } from "../mapping.ts";
import { findAccessToken, noteTokenUse } from "../sql/oauth-artifacts.ts";

export function authenticateToken(context: ServiceContext): ServiceImpl<typeof OAuthService>["authenticateToken"] {
  return async ({ tokenHash, wishes }) => {
    const wanted = readWishes(wishes);
    if (tokenHash.length !== tokenHashBytes) throw callerRefused();
    const { database, clock } = context;
    const now = clock.nowMicros();
    const hash = Buffer.from(tokenHash);
    const [row] = await findAccessToken(database, [hash, formatMicros(now)]);
    if (!row) throw callerRefused();
    // Before the answer: from now on the refresh token that it was given for must not be used again.
    if (row.used_at === null) await noteTokenUse(database, [hash, formatMicros(now)]);
    return create(AuthenticateTokenResponseSchema, {
      installation: toInstallation(row),
      scopes: row.token_scopes.filter((scope) => row.scopes.includes(scope)),
      expiresAt: toTimestamp(row.expires_at),
      property: toJoinedProperty(row),
      leases: await leaseTo(context, row, wanted),
      now: toTimestamp(now),
      appName: row.app_name,
    });
  };
}
