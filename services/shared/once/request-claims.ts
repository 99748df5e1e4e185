/**
 * Claims of Idempotency-Keys by a service that has the keys in its own database: it claims them in the transaction that
 * records what was asked, with what it recorded. So a request with a key costs one row more, and no call.
 */
import type { Columns } from "../database/columns.ts";
import type { Queryable, Transaction } from "../database/postgres.ts";
import type { Micros } from "../values/clock.ts";
import type { Uuid } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";

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

/** The row of a claim. */
export interface RecordedRow {
  /** A digest. */
  readonly key: string;
  readonly fingerprint: Uint8Array;
  readonly operation_id: Uuid;
  readonly expires_at: Micros | Instant;
  readonly recorded: string;
  readonly revision: string;
}

export interface RequestClaims {
  /** @throws DaybookError `parameter_invalid` */
  check(key: string, fingerprint: Uint8Array): void;
  /** @returns the keys that are held. */
  findHeld(database: Queryable, property: Uuid, keys: readonly string[], now: Micros): Promise<Set<string>>;
  /** The claims as rows. The keys must be distinct. */
  toRows(requests: readonly RecordedRequest[], now: Micros): RecordedRow[];
  /**
   * Claims keys as a part of a statement of the service, whose $1 is the property and $2 the instant. It fails if one
   * of them is held, or has expired and is still there.
   */
  insertion: {
    /** The columns of the rows, from a parameter on. */
    columns(first: number): Columns<RecordedRow>;
    text(rows: Columns<RecordedRow>): string;
  };
  /** Claims keys, which must be distinct. @returns those that were free. */
  record(tx: Transaction, property: Uuid, requests: readonly RecordedRequest[], now: Micros): Promise<Set<string>>;
}
