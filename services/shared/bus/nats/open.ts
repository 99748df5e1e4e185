/**
 * The bus on NATS for a process that starts without waiting for NATS: it connects in the background. Until then
 * publishing fails, so messages stay in the outbox, and consumers get nothing.
 */
import { pause } from "../../scheduling/pause.ts";
import { BusAwayError, type Bus, type BusHandler } from "../bus.ts";
import { connectNatsBus, type NatsBusOptions } from "./bus.ts";

const subscribeRetryMs = 500;

/** Connects in the background until it is closed. */
export function openNatsBus(options: Omit<NatsBusOptions, "signal">): Bus {
  const { log } = options;
  const closing = new AbortController();
  const { signal } = closing;
  let bus: Bus | undefined;
  const subscribing: Promise<void>[] = [];
  const connecting = connectNatsBus({ ...options, signal }).then((connected) => (bus = connected));
  // It rejects only when the bus is closed first.
  connecting.catch(() => undefined);

  const connected = (): Bus => {
    if (!bus) throw new BusAwayError(new Error("no server was connected yet"));
    return bus;
  };

  async function subscribe(consumer: string, subject: string, handler: BusHandler): Promise<void> {
    const to = await connecting.catch(() => undefined);
    if (!to) return;
    while (!signal.aborted) {
      try {
        return await to.subscribe(consumer, subject, handler);
      } catch (error) {
        log.warn({ err: error, consumer }, "a consumer cannot be made for now");
        await pause(subscribeRetryMs, signal);
      }
    }
  }

  return {
    publish: async (messages) =>
      bus ? bus.publish(messages) : messages.map(() => new BusAwayError(new Error("no server was connected yet"))),
    async subscribe(consumer, subject, handler) {
      subscribing.push(subscribe(consumer, subject, handler));
    },
    progress: async () => connected().progress(),
    describe: async () => connected().describe(),
    rewriteDeadLetters: async (...args) => connected().rewriteDeadLetters(...args),
    retry: async (consumer, messageId) => connected().retry(consumer, messageId),
    forget: async (epoch, sequences) => bus?.forget(epoch, sequences),
    get session() {
      return bus?.session ?? 0;
    },
    async close() {
      closing.abort();
      const to = await connecting.catch(() => undefined);
      await Promise.all(subscribing);
      await to?.close();
    },
  };
}
