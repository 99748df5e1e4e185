/** The bus of a single process, without NATS. */
import type { Log } from "../process/log.ts";
import type { Bus, BusHandler, BusMessage, Published } from "./bus.ts";
import { deliver } from "./delivery.ts";
import { handleInSpan } from "../tracing/messages.ts";

/** A bus within the process. Publishing waits for the handlers, so a published message has been acknowledged. */
export function createLocalBus(log: Log): Bus {
  const subscriptions: { consumer: string; subject: string; handler: BusHandler }[] = [];
  return {
    async publish(messages) {
      const outcomes = messages.map((): Published => "taken");
      for (const { consumer, subject, handler } of subscriptions) {
        const indexes = messages.flatMap((message, index) => (message.subject === subject ? [index] : []));
        const matching = indexes.map((index) => messages[index] as BusMessage);
        if (matching.length === 0) continue;
        const failures = await deliver(matching, handler);
        for (const [at, failure] of failures.entries()) {
          if (failure === undefined) continue;
          log.warn({ err: failure, consumer, subject }, "a message was not taken and will come again");
          outcomes[indexes[at] as number] = failure;
        }
      }
      return outcomes;
    },
    subscribe(consumer, subject, handler) {
      subscriptions.push({ consumer, subject, handler: handleInSpan(consumer, subject, handler) });
      return Promise.resolve();
    },
    // Nothing is stored here. This epoch matches none that an outbox noted, so those rows are published again.
    progress: () => Promise.resolve({ epoch: "", firstSequence: 0, lastSequence: 0, takenUpTo: new Map() }),
    // A message that fails stays in its outbox, which describes it.
    describe: () => Promise.resolve({ consumers: [], deadLetterCounts: new Map(), deadLetters: [] }),
    retry: () => Promise.resolve({ retried: 0, isComplete: true }),
    rewriteDeadLetters: () => Promise.resolve(),
    forget: () => Promise.resolve(),
    session: 0,
    close: () => Promise.resolve(),
  };
}
