/** Metrics of sending, for Prometheus. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Database } from "#shared/database/postgres.ts";
import { metricOf } from "#shared/process/metrics.ts";
import type { Clock } from "#shared/values/clock.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { AttemptResult } from "../egress/attempt.ts";
import { measurePending, type ResultRow } from "../sql/deliveries.ts";
import { countOpen } from "../sql/health.ts";

export interface SendingMetrics {
  /** Counts an attempt. */
  count(row: ResultRow, result: AttemptResult): void;
}

// More are not counted, so that a scrape stays quick.
const pendingMax = 100_000;

export function createSendingMetrics(context: {
  database: Database;
  clock: Clock;
  registry: Registry;
}): SendingMetrics {
  const { database, clock, registry } = context;
  const attempts = metricOf(registry, Counter, {
    name: "daybook_webhook_attempts_total",
    help: "Attempts to deliver webhooks, by what became of the delivery: delivered, pending (tried again) or failed.",
    labelNames: ["outcome"],
  });
  const durations = metricOf(registry, Histogram, {
    name: "daybook_webhook_attempt_seconds",
    help: "How long attempts to deliver webhooks took, by success or the error.",
    labelNames: ["result"],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  });
  // Before the first attempt, so that a rate over it is known.
  for (const outcome of ["delivered", "pending", "failed"]) attempts.inc({ outcome }, 0);
  durations.zero({ result: "success" });
  let measuring: Promise<{ pending: number; ageSeconds: number } | undefined> | undefined;
  const measure = async (): Promise<{ pending: number; ageSeconds: number } | undefined> => {
    const [row] = await measurePending(database, [pendingMax]);
    if (!row) return undefined;
    const ageSeconds = row.due_at === null ? 0 : Math.max(0, (clock.nowMicros() - row.due_at) / 1_000_000);
    return { pending: row.pending, ageSeconds };
  };
  // Both gauges share one read. They never fail, because the other metrics matter most while the database is away.
  const measureOnce = (): ReturnType<typeof measure> => {
    measuring ??= measure()
      .catch(() => undefined)
      .finally(() => (measuring = undefined));
    return measuring;
  };
  gauge(registry, "daybook_webhook_pending_deliveries", "Deliveries that wait, at most 100,000.", async () => {
    return (await measureOnce())?.pending;
  });
  gauge(
    registry,
    "daybook_webhook_oldest_due_age_seconds",
    "For how long the delivery that waits longest could have been sent.",
    async () => (await measureOnce())?.ageSeconds,
  );
  gauge(registry, "daybook_webhook_open_breakers", "Endpoints whose breaker is open.", async () => {
    const [row] = await countOpen(database, [formatMicros(clock.nowMicros())]).catch(() => []);
    return row?.open;
  });
  return {
    count(row, { durationMs, error }) {
      attempts.inc({ outcome: row.status });
      durations.observe({ result: error ?? "success" }, durationMs / 1000);
    },
  };
}

/** A gauge without labels that is read at each scrape; undefined while it cannot be. */
function gauge(registry: Registry, name: string, help: string, read: () => Promise<number | undefined>): void {
  registry.removeSingleMetric(name);
  const made = new Gauge({
    name,
    help,
    registers: [],
    async collect() {
      const value = await read();
      if (value === undefined) this.remove();
      else this.set(value);
    },
  });
  registry.registerMetric(made);
}
