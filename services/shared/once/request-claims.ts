/**
 * Claims of Idempotency-Keys by a service that has the keys in its own database: it claims them in the transaction that
 * records what was asked, with what it recorded. So a request with a key costs one row more, and no call.
 */
import type { Queryable, Transaction } from "../database/postgres.ts";
import type { Micros } from "../values/clock.ts";
import type { Uuid } from "../values/ids.ts";

/** What was recorded for a request. */
export interface RecordedRequest {
  /** The Idempotency-Key. */
  key: string;
  /** SHA-256 of the request. */
  fingerprint: Uint8Array;
  /** Id of what was recorded, by which a service finds it. */
  operation: Uuid;
  /** From which the service can tell again what it recorded. It is deleted when an id of the operation is redacted. */
  result: string;
  /** The revision that the answer is made for. */
  revision: string;
}

export interface RequestClaims {
  /** @throws DaybookError `parameter_invalid` */
  check(key: string, fingerprint: Uint8Array): void;
  /** @returns the keys that are held. */
  findHeld(database: Queryable, property: Uuid, keys: readonly string[], now: Micros): Promise<Set<string>>;
  /** Claims keys, which must be distinct. @returns those that were free. */
  record(tx: Transaction, property: Uuid, requests: readonly RecordedRequest[], now: Micros): Promise<Set<string>>;
}
