/** Internal clients: programs of other teams that call RPCs directly. */
import { create } from "@bufbuild/protobuf";
import { InternalClientSchema, type InternalClient } from "#proto/daybook/identity/v1/clients_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { encodeId } from "#shared/values/ids.ts";
import type { FindClient } from "#shared/rpc/admission.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { IdentityContext } from "./context.ts";
import { expandMethods } from "./domain/client-methods.ts";
import { findClientByHash, type ClientRow } from "./sql/clients.ts";

const namePattern = /^[a-z0-9][a-z0-9._-]{0,47}$/;

/** Finds clients in the service's own table. */
export function findClient({ database }: IdentityContext): FindClient {
  return async (secretHash) => {
    const [row] = await findClientByHash(database, [secretHash]);
    return row && { name: row.name, methods: expandMethods(row.methods) };
  };
}

/** @throws DaybookError `parameter_invalid` */
export function checkClientName(name: string): void {
  if (namePattern.test(name)) return;
  const message =
    "The name of a client has 1 to 48 lower-case letters, digits, -, _ and ., and begins with a letter or digit.";
  throw new DaybookError("parameter_invalid", message, { param: "name" });
}

export function noSuchClient(): DaybookError {
  return new DaybookError("resource_not_found", "There is no such client.", { param: "client_id" });
}

export function toClient(row: ClientRow): InternalClient {
  return create(InternalClientSchema, {
    id: encodeId("cli", row.id),
    name: row.name,
    methods: row.methods,
    createdAt: toTimestamp(row.created_at),
    revokedAt: toTimestamp(row.revoked_at),
  });
}
