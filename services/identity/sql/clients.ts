import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** A row of identity.clients, without the hash. */
export interface ClientRow {
  id: Uuid;
  name: string;
  methods: string[];
  created_at: Micros;
  revoked_at: Micros | null;
}

const columns = "id, name, methods, created_at, revoked_at";

/** Fails with a unique violation when a client that is not revoked has the name. */
export const insertClient = statement<
  [id: Uuid, name: string, secretHash: Buffer, methods: readonly string[], createdAt: Instant],
  ClientRow
>(
  "identity.clients.insert",
  `INSERT INTO identity.clients (id, name, secret_hash, methods, created_at)
   VALUES ($1, $2, $3, $4, $5)
   RETURNING ${columns}`,
);

/** Revoked clients give no row. */
export const findClientByHash = statement<[secretHash: Buffer], ClientRow>(
  "identity.clients.find_by_hash",
  `SELECT ${columns} FROM identity.clients WHERE secret_hash = $1 AND revoked_at IS NULL`,
);

/** The clients after an id, or from the beginning. */
export const listClients = statement<[after: Uuid, limit: number], ClientRow>(
  "identity.clients.list",
  `SELECT ${columns} FROM identity.clients WHERE id > $1 ORDER BY id LIMIT $2`,
);

/** Revoked clients give no row. */
export const updateClient = statement<[id: Uuid, methods: readonly string[]], ClientRow>(
  "identity.clients.update",
  `UPDATE identity.clients SET methods = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING ${columns}`,
);

/** Keeps the time at which a client was revoked before. */
export const revokeClient = statement<[id: Uuid, now: Instant], ClientRow>(
  "identity.clients.revoke",
  `UPDATE identity.clients SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING ${columns}`,
);
