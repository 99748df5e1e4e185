/**
 * Requests with an Idempotency-Key whose key is claimed as their event is stored. What is written down with the key is
 * all of the event that the request itself does not say, so that a repeat is told the event as it was then.
 */
import type { Event, EventInput, RequestClaim } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { RequestClaims } from "#shared/once/request-claims.ts";
import { toEvent } from "./mapping.ts";
import type { EventRow } from "./sql/events.ts";

/** Written down as JSON. */
interface WrittenEvent extends Omit<EventRow, "properties" | "dedupe_id"> {
  /** TypeID of the merged profile that the request named. */
  resolved_from?: string | undefined;
}

/** An event that is stored for a request, and the request's claim if it has one. */
interface Recorded {
  row: EventRow;
  item: { request?: RequestClaim | undefined; resolvedFrom?: string | undefined };
}

const revisionLengthMax = 20;

/** @throws DaybookError `parameter_invalid` for a claim that is none, or that this process cannot make. */
export function readRequest(
  { claim }: Pick<EventInput, "claim">,
  claims: RequestClaims | undefined,
): RequestClaim | undefined {
  if (claim === undefined) return undefined;
  const param = "claim";
  if (!claims) throw new DaybookError("parameter_invalid", "Claims are not taken here.", { param });
  claims.check(claim.key, claim.fingerprint);
  if (claim.revision.length > revisionLengthMax) {
    throw new DaybookError("parameter_invalid", "A revision has at most 20 characters.", { param });
  }
  return claim;
}

/**
 * The event of a repeated request, as it was written down.
 * @throws DaybookError `parameter_invalid` for a text that this service did not write.
 */
export function readRecorded(
  text: string,
  { propertiesJson: properties, dedupeId }: EventInput,
): { event: Event; resolvedFrom: string | undefined } {
  try {
    const { resolved_from: resolvedFrom, ...row } = JSON.parse(text) as WrittenEvent;
    return { event: toEvent({ ...row, properties, dedupe_id: dedupeId ?? null }), resolvedFrom };
  } catch (cause) {
    throw new DaybookError("parameter_invalid", "It was not recorded here.", { param: "recorded", cause });
  }
}

/** Claims the keys of the requests that events are stored for. @returns those whose keys are held. */
export async function claimRequests<One extends Recorded>(
  claims: RequestClaims | undefined,
  tx: Transaction,
  property: Uuid,
  recorded: readonly One[],
  now: Micros,
): Promise<Set<One>> {
  const wanted = recorded.flatMap((one) => {
    const { item, row } = one;
    return item.request ? [{ one, ...item.request, operation: row.id, result: writeDown(row, item.resolvedFrom) }] : [];
  });
  if (!claims || wanted.length === 0) return new Set();
  const granted = await claims.record(tx, property, wanted, now);
  return new Set(wanted.flatMap(({ one, key }) => (granted.has(key) ? [] : one)));
}

/** What is undefined is left out. */
function writeDown(row: EventRow, resolvedFrom: string | undefined): string {
  return JSON.stringify({ ...row, properties: undefined, dedupe_id: undefined, resolved_from: resolvedFrom });
}

export function requestHeld(): DaybookError {
  const message = "The Idempotency-Key of the request is held.";
  return new DaybookError("idempotency_key_in_use", message, { param: "claim" });
}
