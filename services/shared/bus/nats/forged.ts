/** Messages that nobody of ours signed: no consumer is given them. They become dead letters at once, so that an operator can look at them. */
import type { JetStreamClient, JsMsg } from "@nats-io/jetstream";
import { Counter, type Registry } from "prom-client";
import type { Log } from "../../process/log.ts";
import { metricOf } from "../../process/metrics.ts";
import type { Acks } from "./acks.ts";
import { bury, isFor } from "./dead-letters.ts";
import type { Signer } from "./signature.ts";

/** What a consumer's messages are checked with. */
interface Checking {
  consumer: string;
  client: JetStreamClient;
  acks: Acks;
  signer: Signer;
  registry: Registry;
  log: Log;
}

// Anybody on the server can send many: the log has one line for all that come within this time, the counter has them all.
const logIntervalMs = 10_000;
// One that cannot become a dead letter is tried so often, and is then dropped.
const deliveriesMax = 5;
const retryDelayMs = 1_000;

/** @returns those of the messages that are signed, in order. */
export async function* signedMessages(messages: AsyncIterable<JsMsg>, checking: Checking): AsyncGenerator<JsMsg> {
  const { consumer, client, acks, signer, registry, log } = checking;
  const counter = metricOf(registry, Counter, {
    name: "daybook_bus_unsigned_messages_total",
    help: "Messages that were not taken because their signature was missing or wrong.",
    labelNames: ["consumer"],
  });
  counter.inc({ consumer }, 0);
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  for await (const message of messages) {
    // One that is for another consumer is that one's to check.
    if (!isFor(message, consumer) || signer.isSigned(message)) {
      yield message;
      continue;
    }
    counter.inc({ consumer });
    if (performance.now() - loggedAtMs >= logIntervalMs) {
      loggedAtMs = performance.now();
      log.error(
        { subject: message.subject },
        "a message is not signed with the internal token and was not taken: see bus status",
      );
    }
    const failure = new Error(
      "The message is not signed with INTERNAL_TOKEN or INTERNAL_TOKEN_PREVIOUS, or too long ago.",
    );
    try {
      await bury(client, consumer, message, { failure, deliveries: message.info.deliveryCount });
      acks.add([message]);
    } catch {
      // Such as one that is too large for the headers of a dead letter.
      if (message.info.deliveryCount >= deliveriesMax) acks.add([message]);
      else message.nak(retryDelayMs);
    }
  }
}
