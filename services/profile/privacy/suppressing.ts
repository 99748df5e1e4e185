/** Makes suppressions: identifiers that are kept out from then on, as digests. */
import { randomBytes } from "node:crypto";
import type { Transaction } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { NormalIdentifier } from "#shared/values/identifiers.ts";
import { newUuid, type Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { insertSuppressionKey, insertSuppressions } from "../sql/suppressions.ts";

// HMAC with SHA-256: RFC 2104.
const blockBytes = 64;
const secretBytes = 32;
const innerPad = 0x36;
const outerPad = 0x5c;

/** Suppresses identifiers on behalf of an erasure. */
export async function suppress(
  tx: Transaction,
  property: Uuid,
  request: Uuid,
  identifiers: readonly NormalIdentifier[],
  now: Micros,
): Promise<void> {
  if (identifiers.length === 0) return;
  const key = Buffer.concat([randomBytes(secretBytes)], blockBytes);
  const padded = (pad: number): Buffer => key.map((byte) => byte ^ pad) as Buffer;
  await insertSuppressionKey(tx, [property, padded(innerPad), padded(outerPad)]);
  const rows = identifiers.map(({ type, value }) => ({ id: newUuid(), type, value }));
  await insertSuppressions(tx, [property, request, formatMicros(now), rows]);
}
