/** People who may open the dashboard. */
import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import type { RoleName } from "../domain/roles.ts";

/** An element of `grants`. */
export interface GrantColumn {
  property_id: Uuid | null;
  role: RoleName;
}

export interface MemberRow {
  id: Uuid;
  email: string;
  name: string;
  password_hash: string | null;
  issuer: string | null;
  subject: string | null;
  grants: GrantColumn[];
  is_admin: boolean;
  created_at: Micros;
  last_seen_at: Micros | null;
}

const columns = "id, email, name, password_hash, issuer, subject, grants, is_admin, created_at, last_seen_at";

/** Serializes what makes, removes or invites members, and what changes roles, until the end of the transaction. */
export const lockMembers = statement<[]>(
  "identity.members.lock_all",
  `SELECT pg_advisory_xact_lock(hashtext('daybook members'))`,
);

/** @param grants JSON. */
export const insertMember = statement<
  [
    id: Uuid,
    email: string,
    name: string,
    passwordHash: string | null,
    issuer: string | null,
    subject: string | null,
    grants: string,
    createdAt: Instant,
  ],
  MemberRow
>(
  "identity.members.insert",
  `INSERT INTO identity.members (id, email, name, password_hash, issuer, subject, grants, created_at, last_seen_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
   RETURNING ${columns}`,
);

export const findMember = statement<[id: Uuid], MemberRow>(
  "identity.members.find",
  `SELECT ${columns} FROM identity.members WHERE id = $1`,
);

export const findMemberByEmail = statement<[email: string], MemberRow>(
  "identity.members.find_by_email",
  `SELECT ${columns} FROM identity.members WHERE email = $1`,
);

export const findMemberBySubject = statement<[issuer: string, subject: string], MemberRow>(
  "identity.members.find_by_subject",
  `SELECT ${columns} FROM identity.members WHERE issuer = $1 AND subject = $2`,
);

/** Reads and locks a member. */
export const lockMember = statement<[id: Uuid], MemberRow>(
  "identity.members.lock",
  `SELECT ${columns} FROM identity.members WHERE id = $1 FOR UPDATE`,
);

/** Gives a row if there is any member. */
export const findAnyMember = statement<[], { id: Uuid }>(
  "identity.members.any",
  `SELECT id FROM identity.members LIMIT 1`,
);

/** Gives a row if another member is an admin of all properties. */
export const findOtherAdmin = statement<[id: Uuid], { id: Uuid }>(
  "identity.members.other_admin",
  `SELECT id FROM identity.members WHERE is_admin AND id <> $1 LIMIT 1`,
);

export const countMembers = statement<[], { count: number }>(
  "identity.members.count",
  `SELECT count(*) AS count FROM identity.members`,
);

/** The members after an id, or from the beginning. */
export const listMembers = statement<[after: Uuid, limit: number], MemberRow>(
  "identity.members.list",
  `SELECT ${columns} FROM identity.members WHERE id > $1 ORDER BY id LIMIT $2`,
);

/** Null keeps what is stored. @param grants JSON. */
export const updateMember = statement<[id: Uuid, name: string | null, grants: string | null], MemberRow>(
  "identity.members.update",
  `UPDATE identity.members SET name = coalesce($2, name), grants = coalesce($3, grants) WHERE id = $1
   RETURNING ${columns}`,
);

export const setPassword = statement<[id: Uuid, passwordHash: string], MemberRow>(
  "identity.members.set_password",
  `UPDATE identity.members SET password_hash = $2 WHERE id = $1 RETURNING ${columns}`,
);

export const bindToIssuer = statement<[id: Uuid, issuer: string, subject: string], MemberRow>(
  "identity.members.bind",
  `UPDATE identity.members SET issuer = $2, subject = $3 WHERE id = $1 RETURNING ${columns}`,
);

/** Her sessions go with her. */
export const deleteMember = statement<[id: Uuid], { id: Uuid }>(
  "identity.members.delete",
  `DELETE FROM identity.members WHERE id = $1 RETURNING id`,
);
