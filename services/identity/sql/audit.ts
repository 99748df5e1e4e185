/** Who did what in the dashboard, and who downloaded what is kept of a person. */
import { plannedStatement, statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

export interface AuditRow {
  id: Uuid;
  at: Micros;
  member_id: Uuid | null;
  member_email: string | null;
  actor_id: string | null;
  property_id: Uuid | null;
  action: string;
  target_ids: string[];
  address: string;
  request_id: string;
  succeeded: boolean;
}

const columns =
  "id, at, member_id, member_email, actor_id, property_id, action, target_ids, address, request_id, succeeded";

export const insertAudit = statement<
  [
    id: Uuid,
    at: Instant,
    memberId: Uuid | null,
    memberEmail: string | null,
    actorId: string | null,
    propertyId: Uuid | null,
    action: string,
    targetIds: readonly string[],
    address: string,
    requestId: string,
    succeeded: boolean,
  ],
  AuditRow
>(
  "identity.audit.insert",
  `INSERT INTO identity.audit (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${columns}`,
);

/** Newest first, before an id. Null does not filter. Planned with its values: the index depends on the filter. */
export const listAudit = plannedStatement<
  [
    before: Uuid,
    propertyId: Uuid | null,
    memberId: Uuid | null,
    action: string | null,
    targetId: string | null,
    limit: number,
  ],
  AuditRow
>(
  `SELECT ${columns} FROM identity.audit
   WHERE id < $1
     AND ($2::uuid IS NULL OR property_id = $2)
     AND ($3::uuid IS NULL OR member_id = $3)
     AND ($4::text IS NULL OR action = $4)
     AND ($5::text IS NULL OR target_ids @> ARRAY[$5])
   ORDER BY id DESC LIMIT $6`,
);

/** Gives a row for each. */
export const deleteOldAudit = statement<[before: Uuid, rowsMax: number], { gone: boolean }>(
  "identity.audit.delete_old",
  `DELETE FROM identity.audit WHERE id = ANY(ARRAY(
     SELECT id FROM identity.audit WHERE id < $1 ORDER BY id LIMIT $2
   )) RETURNING true AS gone`,
);
