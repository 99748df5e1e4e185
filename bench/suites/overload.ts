/** A key at 20 times its limit, on two gateways: how much of the limit it gets, and the effect on a quiet key. */
import { setTimeout as sleep } from "node:timers/promises";
import { Owner } from "#shared/process/lifecycle.ts";
import { startGateways } from "../contestants/gateways.ts";
import { emailsMax, makeEvents } from "../support/events.ts";
import { load, toRequest, type LoadResult } from "../support/load.ts";
import { compare, type Contestant, type Run } from "../support/rounds.ts";
import { spread } from "../support/stats.ts";
import type { Suite } from "./suite.ts";

const gatewayCount = 2;
const overloadFactor = 20;
// Per gateway.
const loudPerSecond = 1_000;
const loudConnections = 16;
const quietPerSecond = 100;
const quietConnections = 4;
const windowMs = 60_000;
// A run must lie within one window; this is the time around it.
const marginMs = 4_000;
const secondsMax = (windowMs - 2 * marginMs) / 1000;

export const overload: Suite = async (context) => {
  const { daybook, signal } = context;
  const owner = new Owner();
  // Per run, relative to the limit: what was admitted, and what was sent.
  const admittedShares: number[] = [];
  const sentFactors: number[] = [];
  try {
    const { addresses, cpuSeconds } = await startGateways(daybook, gatewayCount, owner);
    const bodies = makeEvents(emailsMax).map((event) => JSON.stringify(event));
    const requestsOf = (key: string): Buffer[] => bodies.map((body) => toRequest("POST", "/v1/events", key, body));
    const quiet = requestsOf(daybook.key);
    const quietly = (seconds: number): Promise<LoadResult[]> =>
      Promise.all(
        addresses.map((address) =>
          load({ address, requests: quiet, connections: quietConnections, perSecond: quietPerSecond, seconds, signal }),
        ),
      );

    /** Prepares a run of the loud key, so that the load generator is not busy with it later. */
    async function prepareLoud(seconds: number): Promise<{ limit: number; run: () => Promise<LoadResult[]> }> {
      const limit = Math.round((gatewayCount * loudPerSecond * seconds) / overloadFactor);
      const requests = requestsOf(await daybook.newKey(limit));
      const options = { requests, connections: loudConnections, perSecond: loudPerSecond, seconds, signal };
      const run = (): Promise<LoadResult[]> =>
        Promise.all(addresses.map((address) => load({ address, ...options, mayBeRefused: true })));
      return { limit, run };
    }

    /** Loads a new key at 20 times its limit, beside the quiet key. */
    async function both(seconds: number): Promise<Run> {
      const { limit, run } = await prepareLoud(seconds);
      const [loud, beside] = await Promise.all([run(), quietly(seconds)]);
      const sent = loud.reduce((sum, { requests }) => sum + requests, 0);
      const admitted = sent - loud.reduce((sum, { refused }) => sum + refused, 0);
      if (admitted > limit) throw new Error(`${admitted} requests were admitted of ${limit}`);
      admittedShares.push(admitted / limit);
      sentFactors.push(sent / limit);
      return toRun(beside, loud);
    }

    const contestant = (name: string, isLoud: boolean): Contestant => ({
      name,
      async run(seconds) {
        const runSeconds = Math.min(seconds, secondsMax);
        await waitForRoom(runSeconds * 1000, signal);
        return isLoud ? both(runSeconds) : toRun(await quietly(runSeconds), []);
      },
      cpuSeconds,
      settle: daybook.settle,
    });
    const samples = await compare(
      [contestant("quiet key beside one at 20 times its limit", true), contestant("quiet key alone", false)],
      context,
    );
    const { median, min, max } = spread(admittedShares);
    const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
    return {
      title: `Overload: ${gatewayCount} gateways, one key at ${overloadFactor} times its limit`,
      unit: "requests",
      samples,
      notes: [
        `Of its limit the key was given ${percent(median)} (${percent(min)} to ${percent(max)}), never more; ` +
          `it sent ${spread(sentFactors).median.toFixed(1)} times that.`,
        "Requests and CPU time are of both keys, those that were refused too, in the gateways alone; " +
          "latencies are of the quiet key.",
      ],
    };
  } finally {
    await owner.close();
  }
};

/** Waits for the next window unless a run fits into this one. */
async function waitForRoom(runMs: number, signal: AbortSignal): Promise<void> {
  const leftMs = windowMs - (Date.now() % windowMs);
  if (leftMs < runMs + marginMs) await sleep(leftMs + marginMs / 4, undefined, { signal });
}

/** Sums of both gateways; latencies are of the quiet key on the slower gateway. */
function toRun(quiet: readonly LoadResult[], loud: readonly LoadResult[]): Run {
  const all = [...quiet, ...loud];
  return {
    items: all.reduce((sum, { requests }) => sum + requests, 0),
    elapsedS: Math.max(...all.map(({ elapsedS }) => elapsedS)),
    p50Ms: Math.max(...quiet.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...quiet.map(({ p99Ms }) => p99Ms)),
  };
}
