import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CreateKeyResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { isRevision, revisions } from "#shared/values/revisions.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import { checkName } from "../domain/names.ts";
import { checkRateLimit } from "../domain/windows.ts";
import { isScope, scopes as allScopes } from "../domain/scopes.ts";
import { newSecret } from "../domain/secret.ts";
import { storeKey } from "../keys.ts";
import { toKey } from "../mapping.ts";
import { findProperty } from "../sql/properties.ts";

export function createKey(context: ServiceContext): ServiceImpl<typeof IdentityService>["createKey"] {
  return async (request) => {
    checkName(request.name);
    const scopes = request.allScopes ? allScopes : request.scopes;
    if (request.allScopes && request.scopes.length > 0) {
      throw new DaybookError("parameter_conflict", "Name scopes, or ask for all of them.", { param: "scopes" });
    }
    const unknown = scopes.find((scope) => !isScope(scope));
    if (scopes.length === 0 || unknown !== undefined) {
      const reason =
        unknown === undefined ? "A key has at least one scope." : `There is no scope ${unknown.slice(0, 64)}.`;
      throw new DaybookError("parameter_invalid", reason, { param: "scopes" });
    }
    const { revision } = request;
    if (revision !== undefined && !isRevision(revision)) {
      const message = `The revisions are ${revisions.join(" and ")}.`;
      throw new DaybookError("invalid_revision", message, { param: "revision" });
    }
    const now = context.clock.nowMicros();
    const expiresAt = request.expiresAt ? fromTimestamp(request.expiresAt) : null;
    if (expiresAt !== null && expiresAt <= now) {
      throw new DaybookError("parameter_invalid", "The key would have ended already.", { param: "expires_at" });
    }
    const { ordinary, backfill } = request.rateLimits ?? {};
    checkRateLimit(ordinary, "rate_limits.ordinary");
    checkRateLimit(backfill, "rate_limits.backfill");
    const propertyId = decodeId("prop", request.propertyId, "property_id");
    const [property] = await findProperty(context.database, [propertyId]);
    if (!property) throw new DaybookError("resource_not_found", "There is no such property.", { param: "property_id" });

    const secret = newSecret(property.mode);
    const row = await storeKey(context.database, {
      propertyId,
      name: request.name,
      secret,
      scopes: [...new Set(scopes)],
      revision,
      createdAt: now,
      expiresAt,
      rateLimits: { ordinary, backfill },
    });
    return create(CreateKeyResponseSchema, { key: toKey(row), secret });
  };
}
