import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { UpdateClientResponseSchema, type ClientService } from "#proto/daybook/identity/v1/clients_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { noSuchClient, toClient } from "../clients.ts";
import type { IdentityContext } from "../context.ts";
import { readMethods } from "../domain/client-methods.ts";
import { updateClient as update } from "../sql/clients.ts";

export function updateClient({ database }: IdentityContext): ServiceImpl<typeof ClientService>["updateClient"] {
  return async ({ clientId, methods }) => {
    const id = decodeId("cli", clientId, "client_id");
    const [row] = await update(database, [id, readMethods(methods)]);
    if (!row) throw noSuchClient();
    return create(UpdateClientResponseSchema, { client: toClient(row) });
  };
}
