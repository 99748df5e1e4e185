/** What the worker of privacy requests reads and writes. A write fails to find its row when another took the claim. */
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import {
  requestColumns,
  type Counts,
  type Held,
  type RequestRow,
  type RequestStatus,
  type RequestStep,
} from "./privacy-requests.ts";

/** What a part of the work was reported to have found, by the name of the part. */
export type Reports = Record<string, { counts?: Counts; not_reached: string[] }>;

/** A request with all that the worker knows. */
export interface WorkRow extends RequestRow {
  step: RequestStep;
  tries: number;
  held: Held | null;
  reports: Reports;
}

/** The next requests of all properties that are due. */
export const findDueRequests = statement<[now: Instant, limit: number], { property_id: Uuid; id: Uuid }>(
  "profile.privacy_work.find_due",
  `SELECT property_id, id FROM profile.privacy_requests WHERE next_at <= $1 ORDER BY next_at LIMIT $2`,
);

/** Claims a request until an instant. Returns no row when it is not due any more. */
export const claimRequest = statement<[property: Uuid, id: Uuid, claim: Uuid, now: Instant, until: Instant], WorkRow>(
  "profile.privacy_work.claim",
  `UPDATE profile.privacy_requests SET claim = $3, next_at = $5, tries = tries + 1
   WHERE property_id = $1 AND id = $2 AND next_at <= $4
   RETURNING ${requestColumns}, step, tries, held, reports`,
);

/** Looks at a claimed request again later. */
export const postponeRequest = statement<[property: Uuid, id: Uuid, claim: Uuid, nextAt: Instant], { id: Uuid }>(
  "profile.privacy_work.postpone",
  `UPDATE profile.privacy_requests SET next_at = $4, claim = NULL
   WHERE property_id = $1 AND id = $2 AND claim = $3
   RETURNING id`,
);

/** Notes who was found, while the claim is held. */
export const notePerson = statement<
  [property: Uuid, id: Uuid, claim: Uuid, profiles: readonly Uuid[], held: string],
  { id: Uuid }
>(
  "profile.privacy_work.note_person",
  `UPDATE profile.privacy_requests SET profile_ids = $4::uuid[], held = $5::jsonb
   WHERE property_id = $1 AND id = $2 AND claim = $3
   RETURNING id`,
);

/** Ends a step of a claimed request. */
export const advanceRequest = statement<
  [
    property: Uuid,
    id: Uuid,
    claim: Uuid,
    status: RequestStatus,
    step: RequestStep,
    nextAt: Instant | null,
    profiles: readonly Uuid[],
    held: string | null,
    counts: string | null,
    notReached: readonly string[],
    asOf: Instant | null,
    downloadUntil: Instant | null,
    failure: string | null,
    now: Instant,
    completedAt: Instant | null,
    reports: string,
  ],
  RequestRow
>(
  "profile.privacy_work.advance",
  `UPDATE profile.privacy_requests
   SET status = $4, step = $5, next_at = $6, tries = 0, claim = NULL, profile_ids = $7::uuid[], held = $8::jsonb,
       counts = $9::jsonb, not_reached = $10::text[], as_of = $11,
       download_until = least(download_until, $12), failure = $13::jsonb, updated_at = $14, completed_at = $15,
       reports = $16::jsonb
   WHERE property_id = $1 AND id = $2 AND claim = $3
   RETURNING ${requestColumns}`,
);

/**
 * Notes what a part reports, unless it has reported. The last report makes the request due.
 * @param report an object with the part as its only key.
 * @param parts all from which a report is expected.
 */
export const noteReport = statement<
  [property: Uuid, id: Uuid, step: RequestStep, part: string, report: string, parts: readonly string[], now: Instant],
  { is_complete: boolean }
>(
  "profile.privacy_work.note_report",
  `UPDATE profile.privacy_requests
   SET reports = reports || $5::jsonb,
       next_at = CASE WHEN reports || $5::jsonb ?& $6::text[] THEN $7 ELSE next_at END,
       claim = CASE WHEN reports || $5::jsonb ?& $6::text[] THEN NULL ELSE claim END
   WHERE property_id = $1 AND id = $2 AND step = $3 AND status = 'in_progress' AND NOT reports ? $4
   RETURNING reports ?& $6::text[] AS is_complete`,
);

/** Ends the streams of requests for access to any of the profiles, or to any of the identifiers. */
export const endStreams = statement<
  [property: Uuid, profiles: readonly Uuid[], identifiers: string, now: Instant],
  { id: Uuid }
>(
  "profile.privacy_work.end_streams",
  `UPDATE profile.privacy_requests
   SET download_until = least(download_until, $4), held = CASE WHEN status = 'completed' THEN NULL ELSE held END
   WHERE property_id = $1 AND type = 'access' AND as_of IS NOT NULL AND held IS NOT NULL
     AND (profile_ids && $2::uuid[] OR EXISTS (
       SELECT FROM jsonb_array_elements(held -> 'named') AS own (identifier)
       JOIN jsonb_array_elements($3::jsonb) AS gone (identifier) ON own.identifier = gone.identifier
     ))
   RETURNING id`,
);

/** The requests of all properties whose stream has ended. */
export const findEndedStreams = statement<[now: Instant, limit: number], { property_id: Uuid; id: Uuid }>(
  "profile.privacy_work.find_ended_streams",
  `SELECT property_id, id FROM profile.privacy_requests
   WHERE type = 'access' AND held IS NOT NULL AND status = 'completed' AND download_until <= $1
   ORDER BY download_until LIMIT $2`,
);

/** Forgets the identifiers of requests whose stream has ended. */
export const forgetHeld = statement<[property: Uuid, ids: readonly Uuid[], now: Instant], { id: Uuid }>(
  "profile.privacy_work.forget_held",
  `UPDATE profile.privacy_requests SET held = NULL
   WHERE property_id = $1 AND id = ANY($2::uuid[]) AND status = 'completed' AND download_until <= $3
   RETURNING id`,
);
