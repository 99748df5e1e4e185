/** Idempotency-Keys that a service on this database claims in the transaction that records what was asked. */
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { digestOfKey } from "#shared/values/key-digest.ts";
import type { RecordedRequest, RecordedRow, RequestClaims } from "#shared/once/request-claims.ts";
import { formatMicros } from "#shared/values/time.ts";
import { findHeldKeys, insertRecorded, recordedColumns, recordOperations } from "./sql/operations.ts";

/** How long a key is held. */
export const ageMaxMicros = 24 * 60 * 60 * 1_000_000;
const keyPattern = /^[\x21-\x7e]{1,255}$/;
const fingerprintBytes = 32;

export const requestClaims: RequestClaims = {
  check: checkClaim,
  async findHeld(database, property, keys, now) {
    const digests = new Map(keys.map((key) => [digestOfKey(key), key]));
    const rows = await findHeldKeys(database, [property, formatMicros(now), [...digests.keys()]]);
    return new Set(rows.map(({ key }) => digests.get(key) ?? ""));
  },
  toRows,
  insertion: { columns: recordedColumns, text: insertRecorded },
  async record(tx, property, requests, now) {
    const rows = await recordOperations(tx, [property, formatMicros(now), toRows(requests, now)]);
    const granted = new Set(rows.map(({ key }) => key));
    return new Set(requests.flatMap(({ key }) => (granted.has(digestOfKey(key)) ? [key] : [])));
  },
};

function toRows(requests: readonly RecordedRequest[], now: Micros): RecordedRow[] {
  const expires_at = formatMicros(now + ageMaxMicros);
  return requests.map(({ key, fingerprint, operation, result, revision }) => ({
    key: digestOfKey(key),
    fingerprint,
    operation_id: operation,
    expires_at,
    recorded: result,
    revision,
  }));
}

/** @throws DaybookError `parameter_invalid` */
export function checkClaim(key: string, fingerprint: Uint8Array): void {
  if (!keyPattern.test(key)) {
    const message = "A key is 1 to 255 printable ASCII characters without space.";
    throw new DaybookError("parameter_invalid", message, { param: "key" });
  }
  if (fingerprint.length !== fingerprintBytes) {
    throw new DaybookError("parameter_invalid", "A fingerprint is a SHA-256.", { param: "fingerprint" });
  }
}
