/**
 * Signals: a best-effort broadcast to every process, delivered at most once and not persisted. A listener that misses a
 * signal must learn of the change by other means. Signals go within this process, over NATS (nats/signals.ts), or over
 * PostgreSQL (postgres-signals.ts). What must not be lost goes over the bus (bus.ts).
 */
import { Counter, Gauge, type Registry } from "prom-client";
import type { Closable } from "../process/lifecycle.ts";
import type { Log } from "../process/log.ts";

export type SignalHandler = (payload: Uint8Array) => void;

export interface Signals extends Closable {
  /**
   * Signals every listener of a subject. Listeners in this process have run when it returns.
   * @param payload a protobuf message of at most 1 KB.
   * @throws RangeError when it is larger.
   */
  publish(subject: string, payload: Uint8Array): void;
  /** Listens until the signals are closed. A handler that throws is logged, and the other handlers still run. */
  subscribe(subject: string, handler: SignalHandler): void;
}

const payloadBytesMax = 1024;

/** Signals within the process. */
export function createLocalSignals(log: Log): Signals {
  const handlers = new Map<string, SignalHandler[]>();
  return {
    publish(subject, payload) {
      if (payload.length > payloadBytesMax) throw new RangeError(`a signal has at most ${payloadBytesMax} bytes`);
      for (const handler of handlers.get(subject) ?? []) {
        try {
          handler(payload);
        } catch (error) {
          log.error({ err: error, subject }, "a signal could not be taken");
        }
      }
    },
    subscribe(subject, handler) {
      handlers.set(subject, [...(handlers.get(subject) ?? []), handler]);
    },
    async close() {
      handlers.clear();
    },
  };
}

/** Counts and shows what signals between processes do. */
export interface SignalMetrics {
  /** Signals that were not heard. */
  unsigned: Counter;
}

/** @param isConnected whether signals of other processes arrive here. */
export function measureSignals(
  registry: Registry,
  over: "nats" | "postgres",
  isConnected: () => boolean,
): SignalMetrics {
  registry.registerMetric(
    new Gauge({
      name: "daybook_signals_connected",
      help: "Whether signals of other processes arrive here: 1, or 0 while what carries them is away.",
      labelNames: ["over"],
      registers: [],
      collect() {
        this.set({ over }, isConnected() ? 1 : 0);
      },
    }),
  );
  const unsigned = new Counter({
    name: "daybook_signals_unsigned_total",
    help: "Signals that were not heard because their signature was missing or wrong.",
    registers: [registry],
  });
  return { unsigned };
}
