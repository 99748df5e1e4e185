import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RevokeClientResponseSchema, type ClientService } from "#proto/daybook/identity/v1/clients_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { noSuchClient, toClient } from "../clients.ts";
import type { IdentityContext } from "../context.ts";
import { revokeClient as revoke } from "../sql/clients.ts";

export function revokeClient({ database, clock }: IdentityContext): ServiceImpl<typeof ClientService>["revokeClient"] {
  return async ({ clientId }) => {
    const id = decodeId("cli", clientId, "client_id");
    const [row] = await revoke(database, [id, formatMicros(clock.nowMicros())]);
    if (!row) throw noSuchClient();
    return create(RevokeClientResponseSchema, { client: toClient(row) });
  };
}
