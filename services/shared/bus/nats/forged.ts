/** Messages without a valid signature become dead letters before any consumer gets them. */
import type { JetStreamClient, JsMsg } from "@nats-io/jetstream";
import { Counter, type Registry } from "prom-client";
import type { Log } from "../../process/log.ts";
import { metricOf } from "../../process/metrics.ts";
import type { Acks } from "./acks.ts";
import { bury, isFor } from "./dead-letters.ts";
import type { Signer } from "./signature.ts";

interface Checking {
  consumer: string;
  client: JetStreamClient;
  acks: Acks;
  signer: Signer;
  registry: Registry;
  log: Log;
}

// Anybody on the server can send many, so the log has at most one line in this time.
const logIntervalMs = 10_000;
// A message that cannot be stored as a dead letter is dropped after so many deliveries.
const deliveriesMax = 5;
const retryDelayMs = 1_000;

/** @returns the signed messages, in order. */
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
    // The consumer that a retried message is for checks it.
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
    const failure = new Error("The message is not signed with a token of INTERNAL_TOKEN, or too long ago.");
    try {
      await bury(client, consumer, message, { failure, deliveries: message.info.deliveryCount });
      acks.add([message]);
    } catch {
      // For example because a dead letter's headers would make the message too large.
      if (message.info.deliveryCount >= deliveriesMax) acks.add([message]);
      else message.nak(retryDelayMs);
    }
  }
}
