/** The compatibility surface: its cost compared with the native one, and the speed of imports. */
import { setTimeout as sleep } from "node:timers/promises";
import { connections, singleEventsContestant } from "../contestants/single-events.ts";
import { emailsMax, makeEvents } from "../support/events.ts";
import { load, toRequest } from "../support/load.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import type { Suite } from "./suite.ts";

const importItems = 10_000;
const pollMs = 20;
const importTimeoutMs = 120_000;

/** POST /api/events against POST /v1/events, with the same events. */
export const compatEvents: Suite = async (context) => {
  const { daybook, signal } = context;
  const requests = makeEvents(emailsMax).map(({ type, identifier, properties, value, currency }) => {
    const attributes = {
      metric: { data: { type: "metric", attributes: { name: type } } },
      profile: { data: { type: "profile", attributes: { email: identifier.value } } },
      properties,
      value: Number(value),
      value_currency: currency,
    };
    const body = JSON.stringify({ data: { type: "event", attributes } });
    return toRequest("POST", "/api/events", daybook.key, body);
  });
  const compat: Contestant = {
    ...singleEventsContestant("POST /api/events", daybook, signal),
    async run(seconds) {
      const result = await load({ address: daybook.address, requests, connections, seconds, signal });
      return { ...result, items: result.requests };
    },
  };
  const samples = await compare([compat, singleEventsContestant("POST /v1/events", daybook, signal)], context);
  return { title: `Events over the compatibility surface, ${connections} connections`, unit: "requests", samples };
};

/** From the 202 of an import of 10,000 profiles until its job is complete. Each run changes all profiles. */
export const compatImport: Suite = async (context) => {
  const { daybook, signal } = context;
  const { address, other } = daybook;
  const headers = { authorization: `Bearer ${other.key}`, "content-type": "application/json" };
  let turn = 0;

  async function importOnce(): Promise<number> {
    turn++;
    const data = Array.from({ length: importItems }, (_, index) => ({
      type: "profile",
      attributes: {
        email: `import${index}@example.com`,
        first_name: `Member ${index}`,
        location: { city: "Lisbon", country: "PT" },
        properties: { plan: "pro", turn },
      },
    }));
    const body = JSON.stringify({ data: { type: "profile-bulk-import-job", attributes: { profiles: { data } } } });
    const path = `${address}/api/profile-bulk-import-jobs`;
    const response = await fetch(path, { method: "POST", headers, body, signal });
    if (response.status !== 202) throw new Error(`an import was answered with ${response.status}`);
    const startMs = performance.now();
    const { data: job } = (await response.json()) as { data: { id: string } };
    while (performance.now() - startMs < importTimeoutMs) {
      const polled = await fetch(`${path}/${job.id}`, { headers, signal });
      const { attributes } = (
        (await polled.json()) as { data: { attributes: { status: string; failed_count: number } } }
      ).data;
      if (attributes.failed_count > 0) throw new Error("an import has failed items");
      if (attributes.status === "complete") return (performance.now() - startMs) / 1000;
      await sleep(pollMs, undefined, { signal });
    }
    throw new Error("an import did not complete");
  }

  const contestant: Contestant = {
    name: "import of 10,000",
    async run(seconds) {
      const run = { items: 0, elapsedS: 0 };
      do {
        run.elapsedS += await importOnce();
        run.items += importItems;
      } while (run.elapsedS < seconds);
      return run;
    },
    cpuSeconds: daybook.cpuSeconds,
    settle: daybook.settle,
  };
  const samples = await compare([contestant], context);
  return { title: "Profiles imported in bulk, from the 202 until complete", unit: "profiles", samples };
};
