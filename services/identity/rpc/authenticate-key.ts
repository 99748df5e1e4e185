import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { AuthenticateKeyResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import type { ServiceContext } from "#shared/service.ts";
import { formatMicros } from "#shared/time.ts";
import { toKey, toProperty } from "../mapping.ts";
import { findKeyByHash } from "../sql/keys.ts";

export function authenticateKey(context: ServiceContext): ServiceImpl<typeof IdentityService>["authenticateKey"] {
  return async ({ secretHash }) => {
    const [row] = await findKeyByHash(context.database, [
      Buffer.from(secretHash),
      formatMicros(context.clock.nowMicros()),
    ]);
    if (!row) throw new DaybookError("invalid_api_key", "The API key is missing or not valid.");
    return create(AuthenticateKeyResponseSchema, {
      key: toKey(row),
      property: toProperty({
        id: row.property_id,
        name: row.property_name,
        mode: row.mode,
        created_at: row.property_created_at,
      }),
    });
  };
}
