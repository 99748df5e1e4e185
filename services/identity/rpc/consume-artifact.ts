import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ConsumeArtifactResponseSchema, type OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { formatMicros } from "#shared/values/time.ts";
import { endOfGrant } from "../apps/installations.ts";
import type { IdentityContext } from "../context.ts";
import { readConsumed, type ArtifactRef } from "../domain/artifacts.ts";
import { consumeArtifact as consume, findConsumed } from "../sql/oauth-artifacts.ts";

const second = 1_000_000;

export function consumeArtifact(context: IdentityContext): ServiceImpl<typeof OAuthService>["consumeArtifact"] {
  return async (request) => {
    const ref = readConsumed(request);
    const now = context.clock.nowMicros();
    const first = await consume(context.database, [ref.kind, ref.idHash, formatMicros(now)]);
    const isGood = first.length > 0 || (await isGoodAgain(context, ref, now, request.graceSeconds * second));
    return create(ConsumeArtifactResponseSchema, { isGood });
  };
}

/** Whether a use after the first is good. One that is not ends the installation, if the grant is still its own. */
async function isGoodAgain(
  context: IdentityContext,
  { kind, idHash }: ArtifactRef,
  now: Micros,
  graceMicros: Micros,
): Promise<boolean> {
  const [used] = await findConsumed(context.database, [kind, idHash, formatMicros(now)]);
  if (!used) return false;
  const isWithinGrace = graceMicros > 0 && now - used.consumed_at <= graceMicros;
  if (kind === "refresh_token" && isWithinGrace && !used.is_succeeded) return true;
  // What was found stays true, so nothing is locked between: a successor that was used stays used.
  if (used.grant_id !== null) await endOfGrant(context, used.grant_id, "token_reuse");
  return false;
}
