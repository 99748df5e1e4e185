/** Whoever records events one by one over HTTP, from many clients at once. */
import { emailsMax, makeEvents } from "../support/events.ts";
import { load, toRequest } from "../support/load.ts";
import type { Contestant } from "../support/rounds.ts";

/** A server that records, and how it is looked at. */
export interface Recorder {
  address: string;
  key: string;
  cpuSeconds: () => Promise<number>;
  countEvents: () => Promise<number>;
  settle: () => Promise<void>;
}

/** Clients at once. */
export const connections = 64;

export function singleEventsContestant(name: string, recorder: Recorder, signal: AbortSignal): Contestant {
  const { address, key, cpuSeconds, settle, countEvents } = recorder;
  const requests = makeEvents(emailsMax).map((event) => toRequest("POST", "/v1/events", key, JSON.stringify(event)));
  return {
    name,
    async run(seconds) {
      const result = await load({ address, requests, connections, seconds, signal });
      return { ...result, items: result.requests };
    },
    cpuSeconds,
    settle,
    countRows: countEvents,
  };
}
