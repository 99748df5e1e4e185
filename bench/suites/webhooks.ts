/** Webhooks at 500 messages a second: what recording pays for them, and what endpoints pay for each other. */
import { setTimeout as sleep } from "node:timers/promises";
import { Owner } from "#shared/process/lifecycle.ts";
import { startWebhookMesh, type ReceiverName } from "../contestants/webhooks.ts";
import { cpuTimes } from "../support/busy.ts";
import { emailsMax, makeEvents } from "../support/events.ts";
import { load, toRequest } from "../support/load.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import { percentile } from "../support/stats.ts";
import type { Suite } from "./suite.ts";

const perSecond = 500;
const connections = 32;
const settlePollMs = 100;
const settleTimeoutMs = 60_000;

export const webhooks: Suite = async (context) => {
  const { database, signal } = context;
  const owner = new Owner();
  try {
    const mesh = await startWebhookMesh(database, owner);
    const { address, cpuSeconds } = mesh;
    const bodies = makeEvents(emailsMax).map((event) => JSON.stringify(event));
    const settle = async (): Promise<void> => {
      const deadlineMs = performance.now() + settleTimeoutMs;
      while ((await mesh.countWaiting()) > 0) {
        if (performance.now() > deadlineMs) throw new Error("not every message reaches the healthy endpoint");
        await sleep(settlePollMs, undefined, { signal });
      }
      await mesh.takeLatencies();
    };

    /** @param hasEndpoint latencies are those of messages, from their event's time until they are received. */
    async function contestant(
      name: string,
      receivers: readonly ReceiverName[],
      { hasEndpoint = false, isPaced = true } = {},
    ): Promise<Contestant> {
      const key = await mesh.newProperty(receivers);
      const requests = bodies.map((body) => toRequest("POST", "/v1/events", key, body));
      const pace = isPaced ? { perSecond } : {};
      return {
        name,
        async run(seconds) {
          await mesh.takeLatencies();
          const recorded = await load({ address, requests, connections, seconds, ...pace, signal });
          const { requests: items, elapsedS, p50Ms, p99Ms } = recorded;
          if (!hasEndpoint) return { items, elapsedS, p50Ms, p99Ms };
          const sorted = Float64Array.from(await mesh.takeLatencies()).toSorted();
          return { items, elapsedS, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) };
        },
        cpuSeconds,
        settle,
      };
    }

    const beside = await contestant(
      "to a healthy endpoint beside three others",
      ["healthy", "dead", "slow", "hostile"],
      {
        hasEndpoint: true,
      },
    );
    const alone = await contestant("to a healthy endpoint alone", ["healthy"], { hasEndpoint: true });
    const none = await contestant("recording without endpoints", []);
    const recording = await contestant("recording with a healthy endpoint", ["healthy"]);
    const noneFull = await contestant("at full speed without endpoints", [], { isPaced: false });
    const full = await contestant("at full speed with a healthy endpoint", ["healthy"], { isPaced: false });
    const busyBefore = cpuTimes();
    const samples = await compare([beside, alone, recording, none, full, noneFull], context);
    const busyAfter = cpuTimes();
    const busy = (busyAfter.busy - busyBefore.busy) / (busyAfter.all - busyBefore.all);
    return {
      title: `Webhooks: ${perSecond} events a second, with a dead, a slow (14 s) and a hostile endpoint`,
      unit: "events",
      samples,
      pairs: [
        [beside.name, alone.name],
        [recording.name, none.name],
        [full.name, noneFull.name],
      ],
      notes: [
        "Latencies of the first two are of messages, from the time of their event; those of the others, of requests.",
        "It is promised that the p99 beside others is at most 1.2 times that alone, and that recording pays at most 3 %.",
        `The machine was busy for ${(busy * 100).toFixed(0)} % of the time, with this and whatever else.`,
      ],
    };
  } finally {
    await owner.close();
  }
};
