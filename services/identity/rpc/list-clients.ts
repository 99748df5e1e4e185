import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListClientsResponseSchema, type ClientService } from "#proto/daybook/identity/v1/clients_pb.ts";
import { decodeId, nilUuid } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import { toClient } from "../clients.ts";
import type { IdentityContext } from "../context.ts";
import { listClients as list } from "../sql/clients.ts";

const limitMax = 500;

export function listClients({ database }: IdentityContext): ServiceImpl<typeof ClientService>["listClients"] {
  return async ({ limit, afterClientId }) => {
    checkLimit(limit, limitMax, "clients");
    const after = afterClientId === undefined ? nilUuid : decodeId("cli", afterClientId, "after_client_id");
    const { rows, hasMore } = await pageOf(limit, (most) => list(database, [after, most]));
    return create(ListClientsResponseSchema, { clients: rows.map(toClient), hasMore });
  };
}
