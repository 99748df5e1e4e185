/** Open setup links and invitations. */
import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import type { GrantColumn } from "./members.ts";

export interface LinkRow {
  id: Uuid;
  /** Null for the setup link. */
  email: string | null;
  grants: GrantColumn[];
  invited_by: Uuid | null;
  created_at: Micros;
  expires_at: Micros;
}

const columns = "id, email, grants, invited_by, created_at, expires_at";

/** @param grants JSON. */
export const insertLink = statement<
  [
    id: Uuid,
    tokenHash: Buffer,
    email: string | null,
    grants: string,
    invitedBy: Uuid | null,
    createdAt: Instant,
    expiresAt: Instant,
  ],
  LinkRow
>(
  "identity.member_links.insert",
  `INSERT INTO identity.member_links (id, token_hash, email, grants, invited_by, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   RETURNING ${columns}`,
);

export const findLink = statement<[tokenHash: Buffer, now: Instant], LinkRow>(
  "identity.member_links.find",
  `SELECT ${columns} FROM identity.member_links WHERE token_hash = $1 AND expires_at > $2`,
);

/** Uses a link up. Of two that do, one gets the row. */
export const takeLink = statement<[tokenHash: Buffer, now: Instant], LinkRow>(
  "identity.member_links.take",
  `DELETE FROM identity.member_links WHERE token_hash = $1 AND expires_at > $2 RETURNING ${columns}`,
);

/** Uses up the invitation of an email. */
export const takeInvitation = statement<[email: string, now: Instant], LinkRow>(
  "identity.member_links.take_of_email",
  `DELETE FROM identity.member_links WHERE email = $1 AND expires_at > $2 RETURNING ${columns}`,
);

/** The newest open invitations. */
export const listInvitations = statement<[now: Instant, limit: number], LinkRow & { email: string }>(
  "identity.member_links.list",
  `SELECT ${columns} FROM identity.member_links WHERE email IS NOT NULL AND expires_at > $1 ORDER BY id DESC LIMIT $2`,
);

export const countInvitations = statement<[now: Instant], { count: number }>(
  "identity.member_links.count",
  `SELECT count(*) AS count FROM identity.member_links WHERE email IS NOT NULL AND expires_at > $1`,
);

export const endSetupLinks = statement<[]>(
  "identity.member_links.end_setup",
  `DELETE FROM identity.member_links WHERE email IS NULL`,
);

export const endInvitation = statement<[id: Uuid]>(
  "identity.member_links.end",
  `DELETE FROM identity.member_links WHERE id = $1 AND email IS NOT NULL`,
);

export const endInvitationsTo = statement<[email: string]>(
  "identity.member_links.end_to",
  `DELETE FROM identity.member_links WHERE email = $1`,
);

export const endInvitationsBy = statement<[memberId: Uuid]>(
  "identity.member_links.end_by",
  `DELETE FROM identity.member_links WHERE invited_by = $1`,
);

export const deleteExpiredLinks = statement<[now: Instant]>(
  "identity.member_links.delete_expired",
  `DELETE FROM identity.member_links WHERE expires_at <= $1`,
);
