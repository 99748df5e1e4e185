/** Gauges of outbox rows, for Prometheus. */
import { Gauge, type Registry } from "prom-client";
import type { Closable } from "../process/lifecycle.ts";

/** Counts the rows of an outbox; undefined while it cannot. */
type CountRows = () => Promise<{ waiting: number; published: number } | undefined>;

const outboxesOfRegistries = new WeakMap<Registry, Map<string, CountRows>>();

/** Adds an outbox to the gauges of a registry, until it is closed. */
export function measureOutbox(registry: Registry, schema: string, count: CountRows): Closable {
  const outboxes = outboxesOf(registry);
  let counting: ReturnType<CountRows> | undefined;
  // Both gauges share one read. It never fails, because the other metrics matter most while the database is away.
  const countOnce: CountRows = () => {
    counting ??= count()
      .catch(() => undefined)
      .finally(() => (counting = undefined));
    return counting;
  };
  outboxes.set(schema, countOnce);
  return {
    close() {
      if (outboxes.get(schema) === countOnce) outboxes.delete(schema);
      return Promise.resolve();
    },
  };
}

function outboxesOf(registry: Registry): Map<string, CountRows> {
  const known = outboxesOfRegistries.get(registry);
  if (known) return known;
  const outboxes = new Map<string, CountRows>();
  outboxesOfRegistries.set(registry, outboxes);
  const kinds = [
    ["daybook_outbox_rows", "Messages committed and not yet published.", "waiting"],
    ["daybook_outbox_published_rows", "Messages published and not yet taken by their consumers.", "published"],
  ] as const;
  for (const [name, help, kind] of kinds) {
    const gauge = new Gauge({
      name,
      help,
      labelNames: ["schema"],
      registers: [],
      async collect() {
        this.reset();
        for (const [schema, count] of outboxes) {
          const counts = await count();
          if (counts) this.set({ schema }, counts[kind]);
        }
      },
    });
    registry.registerMetric(gauge);
  }
  return outboxes;
}
