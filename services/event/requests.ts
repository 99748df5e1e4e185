/**
 * Requests with an Idempotency-Key whose key is claimed as their event is stored. What is written down with the key is
 * all of the event that the request itself does not say, so that a repeat is told the event as it was then.
 */
import type { Event, EventInput, RequestClaim } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { RecordedRequest, RequestClaims } from "#shared/once/request-claims.ts";
import { prepareEvent } from "./domain/prepare.ts";
import { toEvent, toRow } from "./mapping.ts";
import { insertEventsWithRequests, type EventRow } from "./sql/events.ts";

/** What is written down, as JSON. */
interface WrittenEvent extends Pick<EventRow, "id" | "profile_id" | "received_at"> {
  /** TypeID of the merged profile that the request named. */
  resolved_from?: string | undefined;
}

export interface Requests extends RequestClaims {
  /** Stores events, and claims keys of events and of their requests. */
  insertWithEvents: ReturnType<typeof insertEventsWithRequests>;
  /** Notes that a key was held, which storing an event found out at the cost of storing it twice. */
  noteHeld(): void;
  /** Whether keys are looked up before events are stored, as one was held lately. */
  looksFirst(): boolean;
}

// Calls that look first after one in which a key was held.
const lookingCalls = 100;

export function createRequests(claims: RequestClaims): Requests {
  let left = 0;
  return {
    ...claims,
    insertWithEvents: insertEventsWithRequests(claims),
    noteHeld() {
      left = lookingCalls;
    },
    looksFirst: () => left > 0 && left-- > 0,
  };
}

/** An event that is stored for a request, and the request's claim if it has one. */
interface Recorded {
  row: EventRow;
  item: { request?: RequestClaim | undefined; resolvedFrom?: string | undefined };
}

const revisionLengthMax = 20;
// What is written down has some 150 characters.
const recordedLengthMax = 500;

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
export function readRecorded(text: string, input: EventInput): { event: Event; resolvedFrom: string | undefined } {
  const param = "recorded";
  if (text.length > recordedLengthMax) {
    throw new DaybookError("parameter_invalid", "It is too long to be recorded here.", { param });
  }
  try {
    const {
      id,
      profile_id: profileId,
      received_at: now,
      resolved_from: resolvedFrom,
    } = JSON.parse(text) as WrittenEvent;
    const event = { ...prepareEvent(input, now), id, profileId, identifier: null };
    return { event: toEvent(toRow(event, now)), resolvedFrom };
  } catch (cause) {
    throw new DaybookError("parameter_invalid", "It was not recorded here.", { param, cause });
  }
}

/** Claims the keys of the requests that events are stored for. @returns those whose keys are held. */
export async function claimRequests<One extends Recorded>(
  claims: Requests | undefined,
  tx: Transaction,
  property: Uuid,
  recorded: readonly One[],
  now: Micros,
): Promise<Set<One>> {
  const wanted = toRequests(recorded);
  if (!claims || wanted.length === 0) return new Set();
  const granted = await claims.record(tx, property, wanted, now);
  if (granted.size < wanted.length) claims.noteHeld();
  return new Set(recorded.filter(({ item }) => item.request && !granted.has(item.request.key)));
}

/** The requests that events are stored for. */
export function toRequests(recorded: readonly Recorded[]): RecordedRequest[] {
  return recorded.flatMap(({ item: { request, resolvedFrom }, row }) =>
    request ? [{ ...request, operation: row.id, result: writeDown(row, resolvedFrom) }] : [],
  );
}

function writeDown({ id, profile_id, received_at }: EventRow, resolved_from: string | undefined): string {
  return JSON.stringify({ id, profile_id, received_at, resolved_from } satisfies WrittenEvent);
}

export function requestHeld(): DaybookError {
  const message = "The Idempotency-Key of the request is held.";
  return new DaybookError("idempotency_key_in_use", message, { param: "claim" });
}
