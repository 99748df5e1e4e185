import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import type { CallerKind } from "../callers.ts";

/** A window in SQL. */
export type WindowName = "ordinary" | "backfill";

export interface LeaseRow {
  property_id: Uuid;
  caller_id: Uuid;
  name: WindowName;
  starts_at: Micros;
  requests_max: number;
  granted: number;
  share: number;
}

const wanted = columns(1, {
  property_id: "uuid",
  caller_id: "uuid",
  name: "text",
  starts_at: "timestamptz",
  wanted: "integer",
  // The limit of callers without one of their own.
  limit_default: "integer",
  // A share is at most 1/part of the limit.
  part: "integer",
});

/**
 * Leases shares of windows: at most a quarter of what is left, so that the end of a window is leased in small shares
 * and little of it stays unused. The row lock serializes leases, so that together they never exceed the limit. Unknown
 * callers give no row. Windows must be distinct.
 */
export const leaseRequests = statement<[windows: Rows<typeof wanted>], LeaseRow>(
  "identity.rate_windows.lease",
  `INSERT INTO identity.rate_windows AS r (property_id, caller_id, name, starts_at, requests_max, granted, share)
   SELECT w.property_id, w.caller_id, w.name, w.starts_at, c.requests_max, s.share, s.share
   FROM (
     SELECT * FROM ${wanted.as("w")}
     ORDER BY property_id, caller_id, name, starts_at
   ) AS w
   CROSS JOIN LATERAL (
     (SELECT coalesce(CASE WHEN w.name = 'ordinary' THEN rate_limit_ordinary ELSE rate_limit_backfill END, w.limit_default)
        AS requests_max
      FROM identity.keys WHERE property_id = w.property_id AND id = w.caller_id LIMIT 1)
     UNION ALL
     (SELECT w.limit_default FROM identity.installations
      WHERE property_id = w.property_id AND id = w.caller_id LIMIT 1)
     LIMIT 1
   ) AS c
   CROSS JOIN LATERAL (SELECT least(w.wanted, (c.requests_max + w.part - 1) / w.part) AS share) AS s
   ON CONFLICT (property_id, caller_id, name, starts_at) DO UPDATE SET
     requests_max = excluded.requests_max,
     granted = r.granted + greatest(0, least(excluded.share, (excluded.requests_max - r.granted + 3) / 4)),
     share = greatest(0, least(excluded.share, (excluded.requests_max - r.granted + 3) / 4))
   RETURNING property_id, caller_id, name, starts_at, requests_max, granted, share`,
  wanted,
);

const unused = columns(1, {
  property_id: "uuid",
  caller_id: "uuid",
  name: "text",
  starts_at: "timestamptz",
  count: "integer",
});

/** Returns unused requests. Windows must be distinct. */
export const returnRequests = statement<[windows: Rows<typeof unused>]>(
  "identity.rate_windows.return",
  `WITH unused AS MATERIALIZED (
     SELECT u.* FROM (
       SELECT * FROM ${unused.as("u")}
       ORDER BY property_id, caller_id, name, starts_at
     ) AS u
     CROSS JOIN LATERAL (
       SELECT FROM identity.rate_windows r
       WHERE r.property_id = u.property_id AND r.caller_id = u.caller_id AND r.name = u.name AND r.starts_at = u.starts_at
       LIMIT 1 FOR NO KEY UPDATE
     ) AS locked
   )
   UPDATE identity.rate_windows r SET granted = greatest(0, r.granted - u.count) FROM unused u
   WHERE r.property_id = ANY(${unused.array("property_id")}) AND r.caller_id = ANY(${unused.array("caller_id")})
     AND r.property_id = u.property_id AND r.caller_id = u.caller_id AND r.name = u.name AND r.starts_at = u.starts_at`,
  unused,
);

/** The windows of a page of callers that began at an instant. A caller without any gives one row of nulls. */
export const listRateWindows = statement<
  [property: Uuid, startsAt: Instant, after: Uuid, callersMax: number],
  { caller_id: Uuid; kind: CallerKind } & (
    | { name: WindowName; requests_max: number; granted: number }
    | { name: null; requests_max: null; granted: null }
  )
>(
  "identity.rate_windows.list",
  `SELECT c.id AS caller_id, c.kind, r.name, r.requests_max, r.granted
   FROM (
     (SELECT id, 'key' AS kind FROM identity.keys WHERE property_id = $1 AND id > $3 ORDER BY id LIMIT $4)
     UNION ALL
     (SELECT id, 'inst' FROM identity.installations WHERE property_id = $1 AND id > $3 ORDER BY id LIMIT $4)
     ORDER BY id LIMIT $4
   ) c
   LEFT JOIN LATERAL (
     SELECT name, requests_max, granted FROM identity.rate_windows
     WHERE property_id = $1 AND caller_id = c.id AND starts_at = $2 LIMIT 2
   ) r ON true
   ORDER BY c.id, r.name DESC`,
);

/** Deletes windows that began before an instant. Gives a row for each. */
export const deleteRateWindows = statement<[before: Instant, rowsMax: number], { gone: boolean }>(
  "identity.rate_windows.delete",
  `DELETE FROM identity.rate_windows WHERE ctid = ANY(ARRAY(
     SELECT ctid FROM identity.rate_windows WHERE starts_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED
   )) RETURNING true AS gone`,
);
