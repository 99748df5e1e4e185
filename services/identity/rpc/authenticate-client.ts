import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { AuthenticateClientResponseSchema, type ClientService } from "#proto/daybook/identity/v1/clients_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { findClient } from "../clients.ts";
import type { IdentityContext } from "../context.ts";

export function authenticateClient(context: IdentityContext): ServiceImpl<typeof ClientService>["authenticateClient"] {
  const find = findClient(context);
  return async ({ secretHash }) => {
    const client = await find(Buffer.from(secretHash));
    if (!client) throw new DaybookError("invalid_api_key", "The token is not valid.");
    return create(AuthenticateClientResponseSchema, { name: client.name, methods: [...client.methods] });
  };
}
