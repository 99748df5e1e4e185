/** Lag and dead letters of consumers for Prometheus, read at each scrape and absent while NATS does not answer. */
import { Gauge, type Registry } from "prom-client";
import type { JetStreamManager } from "@nats-io/jetstream";
import { countDeadLetters } from "./dead-letters.ts";
import { listConsumers } from "./stream.ts";

interface Figures {
  lag: number;
  redelivered: number;
  deadLetters: number;
}

/**
 * Adds gauges of all consumers to a registry. Every process reports all, also while a consumer is not running.
 * @param manager needs a short timeout, because a scrape waits for it.
 */
export function measureConsumers(registry: Registry, manager: JetStreamManager): void {
  let reading: Promise<Map<string, Figures>> | undefined;
  const read = (): Promise<Map<string, Figures>> => {
    // All gauges share one read.
    reading ??= readFigures(manager)
      .catch(() => new Map<string, Figures>())
      .finally(() => (reading = undefined));
    return reading;
  };
  const gauges: [name: string, help: string, figure: keyof Figures][] = [
    ["daybook_consumer_lag_messages", "Messages published and not yet taken.", "lag"],
    ["daybook_consumer_redelivered_messages", "Messages delivered more than once and not yet taken.", "redelivered"],
    ["daybook_dead_letters", "Messages that the consumer has given up.", "deadLetters"],
  ];
  for (const [name, help, figure] of gauges) {
    if (registry.getSingleMetric(name)) continue;
    const gauge = new Gauge({
      name,
      help,
      labelNames: ["consumer"],
      registers: [],
      async collect() {
        const figures = await read();
        this.reset();
        for (const [consumer, values] of figures) this.set({ consumer }, values[figure]);
      },
    });
    registry.registerMetric(gauge);
  }
}

async function readFigures(manager: JetStreamManager): Promise<Map<string, Figures>> {
  const [consumers, deadLetters] = await Promise.all([listConsumers(manager), countDeadLetters(manager)]);
  const names = new Set([...consumers.map(({ name }) => name), ...deadLetters.keys()]);
  return new Map(
    [...names].map((name) => {
      const known = consumers.find((consumer) => consumer.name === name);
      const lag = (known?.num_pending ?? 0) + (known?.num_ack_pending ?? 0);
      return [name, { lag, redelivered: known?.num_redelivered ?? 0, deadLetters: deadLetters.get(name) ?? 0 }];
    }),
  );
}
