/** Puts load on a Daybook, and checks that every recorded event is counted exactly once. */
import type { Registry } from "prom-client";
import type { Api } from "./api.ts";
import { testCall, type TestDaybook } from "./daybook.ts";
import { eventually } from "./processes.ts";

/** Records events of one type concurrently until it is stopped. */
export interface Load {
  /** Events answered so far. */
  readonly answered: number;
  /** Waits until this many more are answered. */
  more(events: number): Promise<void>;
  /** @returns how many were answered in all. */
  stop(): Promise<number>;
}

const callersMax = 3;

/** Starts load of one type. Refusals are not counted as answers; other statuses than 201 are failures. */
export function beginLoad(api: Api, type: string): Load {
  const event = { type, identifier: { type: "card", value: "1" }, properties: { word: "load" } };
  let answered = 0;
  const over = new AbortController();
  const callers = Array.from({ length: callersMax }, async () => {
    while (!over.signal.aborted) {
      const { status, text } = await api.post("/v1/events", event);
      if (status === 201) answered++;
      else if (status !== 503) throw new Error(text);
    }
  });
  return {
    get answered() {
      return answered;
    },
    async more(events) {
      const wanted = answered + events;
      await eventually(() => (answered >= wanted ? true : undefined), { explain: () => "no event is answered" });
    },
    async stop() {
      over.abort();
      await Promise.all(callers);
      return answered;
    },
  };
}

/** The event count of a type. */
export async function countOf(daybook: TestDaybook, propertyId: string, type: string): Promise<number> {
  const { metrics } = await daybook.clients.metrics.listMetrics({ propertyId, limit: 500 }, testCall);
  return Number(metrics.find(({ name }) => name === type)?.eventCount ?? 0);
}

/** Waits until all outboxes are empty and all consumers have no backlog. Counts are final then. */
export async function allTaken(daybook: TestDaybook): Promise<void> {
  let seen = "";
  await eventually(
    async () => {
      const [events, profiles] = await Promise.all([
        daybook.clients.outboxes.event.describeBus({}, testCall),
        daybook.clients.outboxes.profile.describeBus({}, testCall),
      ]);
      const outboxes = [...events.outboxes, ...profiles.outboxes];
      seen = outboxes.map(({ name, unpublished, published }) => `${name}: ${unpublished}, ${published}`).join("; ");
      seen += events.consumers.map(({ name, waiting, delivered }) => ` ${name}: ${waiting}, ${delivered}`).join(";");
      seen += events.away ?? "";
      const isOutboxEmpty = outboxes.every(({ unpublished, published }) => unpublished + published === 0n);
      const areIdle = events.consumers.every(({ waiting, delivered }) => waiting + delivered === 0n);
      return isOutboxEmpty && areIdle && events.away === undefined ? true : undefined;
    },
    { timeoutMs: 60_000, explain: () => `something waits: ${seen}` },
  );
}

/** Number of RPC calls of a method, from the services' metrics. */
export async function callsOf(registry: Registry, method: string): Promise<number> {
  const { values } = (await registry.getSingleMetric("daybook_rpc_duration_seconds")?.get()) ?? { values: [] };
  return values
    .filter((value) => "metricName" in value && String(value.metricName).endsWith("_count"))
    .filter(({ labels }) => labels["method"] === method)
    .reduce((sum, { value }) => sum + value, 0);
}
