/** A contestant that records single events over HTTP from many concurrent clients. */
import { randomUUID } from "node:crypto";
import { emailsMax, makeEvents } from "../support/events.ts";
import { load, toRequest } from "../support/load.ts";
import type { Contestant } from "../support/rounds.ts";

/** A server that records, and how to observe it. */
export interface Recorder {
  address: string;
  key: string;
  cpuSeconds: () => Promise<number>;
  countEvents: () => Promise<number>;
  settle: () => Promise<void>;
}

/** Concurrent clients. */
export const connections = 64;

/** @param hasKeys whether each request has an Idempotency-Key of its own. */
export function singleEventsContestant(
  name: string,
  recorder: Recorder,
  signal: AbortSignal,
  hasKeys = false,
): Contestant {
  const { address, key, cpuSeconds, settle, countEvents } = recorder;
  const { headers, stamp } = idempotencyKeys();
  const requests = makeEvents(emailsMax).map((event) =>
    toRequest("POST", "/v1/events", key, JSON.stringify(event), hasKeys ? headers : {}),
  );
  return {
    name,
    async run(seconds) {
      const result = await load({ address, requests, connections, seconds, signal, ...(hasKeys ? { stamp } : {}) });
      return { ...result, items: result.requests };
    },
    cpuSeconds,
    settle,
    countRows: countEvents,
  };
}

const digits = 12;

/** An Idempotency-Key header, and a function that gives each request a new key. */
function idempotencyKeys() {
  const prefix = `bench-${randomUUID()}-`;
  const value = prefix + "0".repeat(digits);
  let count = 0;
  return {
    headers: { "idempotency-key": value },
    stamp: (request: Buffer): void => {
      const at = request.indexOf(prefix, 0, "latin1") + prefix.length;
      request.write(String(++count).padStart(digits, "0"), at, "latin1");
    },
  };
}
