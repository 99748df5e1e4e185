/**
 * Signals: a best-effort broadcast to every process, delivered at most once and not persisted. A listener that misses a
 * signal must learn of the change by other means. Signals go within this process, or over NATS (nats/signals.ts). What
 * must not be lost goes over the bus (bus.ts).
 */
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
