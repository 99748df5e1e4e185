/** Load on a Daybook, and whether every event of it that was answered is counted exactly once. */
import type { Registry } from "prom-client";
import type { Api } from "./api.ts";
import { testCall, type TestDaybook } from "./daybook.ts";
import { eventually } from "./processes.ts";

/** Events of one type are recorded, a few at once, until it is stopped. */
export interface Load {
  /** Answered so far. */
  readonly answered: number;
  /** Waits until so many more are answered. */
  more(events: number): Promise<void>;
  /** Stops. @returns how many were answered. */
  stop(): Promise<number>;
}

const callersMax = 3;

/** Begins to record events of a type. A refusal is not an answer; anything else but 201 is a mistake. */
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

/** How often events of a type were counted. */
export async function countOf(daybook: TestDaybook, propertyId: string, type: string): Promise<number> {
  const { metrics } = await daybook.clients.metrics.listMetrics({ propertyId, limit: 500 }, testCall);
  return Number(metrics.find(({ name }) => name === type)?.eventCount ?? 0);
}

/** Waits until nothing waits anywhere: no outbox holds a row, and every consumer has taken everything. What is counted then stays so. */
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

/** How often a method was called by RPC, as the services' own measurement has it. */
export async function callsOf(registry: Registry, method: string): Promise<number> {
  const { values } = (await registry.getSingleMetric("daybook_rpc_duration_seconds")?.get()) ?? { values: [] };
  return values
    .filter((value) => "metricName" in value && String(value.metricName).endsWith("_count"))
    .filter(({ labels }) => labels["method"] === method)
    .reduce((sum, { value }) => sum + value, 0);
}
