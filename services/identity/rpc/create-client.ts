import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CreateClientResponseSchema, type ClientService } from "#proto/daybook/identity/v1/clients_pb.ts";
import { isUniqueViolation } from "#shared/database/failures.ts";
import { hashClientToken, newClientToken } from "#shared/values/client-token.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { newUuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { checkClientName, toClient } from "../clients.ts";
import type { IdentityContext } from "../context.ts";
import { readMethods } from "../domain/client-methods.ts";
import { insertClient } from "../sql/clients.ts";

export function createClient({ database, clock }: IdentityContext): ServiceImpl<typeof ClientService>["createClient"] {
  return async ({ name, methods }) => {
    checkClientName(name);
    const token = newClientToken();
    const createdAt = formatMicros(clock.nowMicros());
    try {
      const [row] = await insertClient(database, [
        newUuid(),
        name,
        hashClientToken(token),
        readMethods(methods),
        createdAt,
      ]);
      return create(CreateClientResponseSchema, { ...(row && { client: toClient(row) }), token });
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      const message = `There is a client ${name}. Revoke it first, or choose another name.`;
      throw new DaybookError("parameter_conflict", message, { param: "name" });
    }
  };
}
