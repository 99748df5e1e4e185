/** A client of the public API as a store would write it: it has several addresses, and repeats under its key. */
import { setTimeout as sleep } from "node:timers/promises";
import { createApi, type Answer } from "../support/api.ts";
import { eventually } from "../support/processes.ts";
import { aggregatesPath } from "../support/recount.ts";
import type { Played } from "./play.ts";

const patienceMs = 60_000;
const callersMax = 8;
const failuresMax = 10;

/** What a client does after an answer that says `retryable`: a killed process may owe one, a draining one may not. */
export type Patience = "retries connection errors" | "retries connection errors and retryable answers";

export interface Recording {
  recorded: number;
  /** Answers that a client must not see. Recording ends with the tenth. */
  failures: string[];
  /** How often a connection was refused or ended, or an answer was retryable. */
  retries: number;
}

function gatewaysOf({ replicas }: Played): string[] {
  return (replicas["gateway"] ?? replicas["daybook"] ?? []).map(({ url }) => url);
}

/** Records `count` events of a type over all gateways, some at a time, until `until` ends too. */
export async function recordEvents(
  played: Played,
  type: string,
  count: number,
  { patience, until }: { patience: Patience; until?: Promise<unknown> },
): Promise<Recording> {
  const result: Recording = { recorded: 0, failures: [], retries: 0 };
  const addresses = gatewaysOf(played);
  let next = 0;
  const over = new AbortController();
  void Promise.allSettled([until]).then(() => over.abort());
  const record = async (turn: number): Promise<void> => {
    const body = { type, identifier: { type: "email", value: `p${turn % 50}@example.com` }, properties: { turn } };
    const options = { headers: { "idempotency-key": `${type}.${turn}` } };
    const deadlineMs = performance.now() + patienceMs;
    for (let attempt = 0; ; attempt++) {
      const api = createApi(addresses[(turn + attempt) % addresses.length] ?? "", played.testKey);
      const answer = await api.post("/v1/events", body, options).catch((error: unknown) => error as Error);
      if (!(answer instanceof Error) && answer.status === 201) {
        result.recorded++;
        return;
      }
      if (!mayRetry(answer, patience) || performance.now() > deadlineMs) {
        result.failures.push(
          answer instanceof Error ? `${answer.message}: ${(answer.cause as Error | undefined)?.message}` : answer.text,
        );
        return;
      }
      result.retries++;
      await sleep(100);
    }
  };
  const callers = Array.from({ length: callersMax }, async () => {
    while ((next < count || !over.signal.aborted) && result.failures.length < failuresMax) await record(next++);
  });
  await Promise.all(callers);
  return result;
}

function mayRetry(answer: Answer | Error, patience: Patience): boolean {
  if (answer instanceof Error) return true;
  return patience === "retries connection errors and retryable answers" && answer.body?.error.retryable === true;
}

/** Waits until the metrics count exactly so many events of a type. */
export async function expectCounted(played: Played, address: string, type: string, count: number): Promise<void> {
  const api = createApi(address, played.testKey);
  let answer = "";
  await eventually(
    async () => {
      const now = Date.now();
      const range = { from: new Date(now - 3_600_000).toISOString(), to: new Date(now).toISOString() };
      const { body, text } = await api.post(aggregatesPath, { metric: type, ...range });
      answer = text;
      const [counted] = body.data?.series[0].count ?? [];
      if (counted > count) throw new Error(`${counted} of ${count} are counted`);
      return counted === count ? true : undefined;
    },
    { timeoutMs: 60_000, explain: () => `not ${count} events of ${type}: ${answer}` },
  );
}
