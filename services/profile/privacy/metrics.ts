/** Counts of privacy requests, for Prometheus and for operators. */
import { Gauge, type Registry } from "prom-client";
import { formatMicros } from "#shared/values/time.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { countRequests } from "../sql/privacy-requests.ts";

const soonMicros = 7 * 24 * 60 * 60 * 1_000_000;

/** Counts the requests of all properties: open, overdue and due within 7 days, and failed. */
export async function countOpen({ database, clock }: Pick<ServiceContext, "database" | "clock">): Promise<{
  open: number;
  overdue: number;
  due_soon: number;
  failed: number;
}> {
  const now = clock.nowMicros();
  const [counts] = await countRequests(database, [formatMicros(now), formatMicros(now + soonMicros)]);
  return counts ?? { open: 0, overdue: 0, due_soon: 0, failed: 0 };
}

/** Adds the gauge of requests to a registry. It says nothing while the database is away. */
export function measurePrivacyRequests(
  context: Pick<ServiceContext, "database" | "clock"> & { registry: Registry },
): void {
  const name = "daybook_privacy_requests";
  if (context.registry.getSingleMetric(name)) return;
  const gauge = new Gauge({
    name,
    help: "Privacy requests: open ones, of these overdue and due within 7 days, and failed ones.",
    labelNames: ["state"],
    registers: [],
    async collect() {
      this.reset();
      const counts = await countOpen(context).catch(() => undefined);
      for (const [state, value] of Object.entries(counts ?? {})) this.set({ state }, value);
    },
  });
  context.registry.registerMetric(gauge);
}
