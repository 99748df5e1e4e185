/**
 * Signals: short words to every process that listens, at most once and kept nowhere. Who misses one must come to know by other means, if later.
 * One interface, two homes: within this process, and NATS (nats/signals.ts). What must not be lost goes over the bus (bus.ts).
 */
import type { Closable } from "../process/lifecycle.ts";
import type { Log } from "../process/log.ts";

/** Takes what was signalled. */
export type SignalHandler = (payload: Uint8Array) => void;

/** See the head of this file. */
export interface Signals extends Closable {
  /**
   * Tells every listener of a subject. Those in this process have taken it once this returns.
   * @param payload a protobuf message of at most 1 KB.
   * @throws RangeError when it is larger.
   */
  publish(subject: string, payload: Uint8Array): void;
  /** Listens from now on until the signals are closed. A handler that throws is logged and keeps nothing from the others. */
  subscribe(subject: string, handler: SignalHandler): void;
}

/** Bytes of one signal. */
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
