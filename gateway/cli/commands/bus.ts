/** Commands for the bus between the services: status, republishing, dead letters. */
import type { DescribeBusResponse } from "#proto/daybook/common/v1/bus_pb.ts";
import { formatTimestamp } from "#shared/values/time.ts";
import type { Command, OperatorServices } from "../command.ts";

export const busCommands: readonly Command[] = [
  {
    name: "bus status",
    usage: "",
    summary: "what waits in the outboxes and for the consumers, and what consumers have given up",
    words: [0, 0],
    options: [],
    async run({ outboxes }) {
      const answers = await Promise.all(Object.values(outboxes).map((client) => client.describeBus({})));
      const shown = showStatus(answers);
      return { text: statusText(shown), json: shown };
    },
  },
  {
    name: "bus republish",
    usage: "",
    summary: "publishes everything again that was not taken; what was taken once is not taken twice",
    words: [0, 0],
    options: [],
    async run({ outboxes }) {
      const republished = {
        event: await republish(outboxes, "event"),
        profile: await republish(outboxes, "profile"),
        metric: await republish(outboxes, "metric"),
      };
      const lines = Object.entries(republished).map(
        ([name, count]) => `${name}: ${count} messages are published again.`,
      );
      return { text: lines.join("\n"), json: { republished } };
    },
  },
  {
    name: "bus retry",
    usage: "[<consumer> [<message id>]]",
    summary: "gives dead letters, of all consumers or of one, or one of them, back to the consumers that failed",
    words: [0, 2],
    options: [],
    async run({ outboxes }, { words: [consumer, messageId] }) {
      const request = {
        ...(consumer === undefined ? {} : { consumer }),
        ...(messageId === undefined ? {} : { messageId }),
      };
      let retried = 0;
      for (let isComplete = false; !isComplete;) {
        const step = await outboxes.event.retryDeadLetters(request);
        retried += step.retried;
        // A message that is not among the oldest is not looked for again and again.
        isComplete = step.complete || messageId !== undefined;
      }
      return { text: `${retried} messages were given back.`, json: { retried } };
    },
  },
];

async function republish(
  outboxes: OperatorServices["outboxes"],
  outbox: keyof OperatorServices["outboxes"],
): Promise<number> {
  let republished = 0;
  let step = await outboxes[outbox].republish({ outbox });
  republished += step.republished;
  while (step.next) {
    step = await outboxes[outbox].republish({ outbox, after: step.next });
    republished += step.republished;
  }
  return republished;
}

/**
 * Services in one process report each other's outboxes too, and every service reports the bus: each outbox counts once,
 * and the first answer from a reachable bus counts.
 */
function showStatus(answers: readonly DescribeBusResponse[]) {
  const told = answers.flatMap((answer) => answer.outboxes).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const outboxes = new Map(told.map((outbox) => [outbox.name, outbox]));
  const bus = answers.find(({ away }) => away === undefined) ?? answers[0];
  return {
    bus: bus?.away ?? "ok",
    outboxes: [...outboxes.values()].map(({ name, unpublished, published, bytes, failing }) => ({
      name,
      unpublished: Number(unpublished),
      published: Number(published),
      bytes: Number(bytes),
      failing: failing.map(({ messageId, subject, attempts, reason }) => ({
        message_id: messageId,
        subject,
        attempts,
        reason,
      })),
    })),
    consumers: (bus?.consumers ?? []).map((consumer) => ({
      name: consumer.name,
      subject: consumer.subject,
      waiting: Number(consumer.waiting),
      delivered: Number(consumer.delivered),
      redelivered: Number(consumer.redelivered),
      oldest_at: consumer.oldestAt ? formatTimestamp(consumer.oldestAt) : null,
      dead_letters: Number(consumer.deadLetters),
    })),
    dead_letters: (bus?.deadLetters ?? []).map((letter) => ({
      consumer: letter.consumer,
      message_id: letter.messageId,
      subject: letter.subject,
      reason: letter.reason,
      deliveries: letter.deliveries,
      died_at: letter.diedAt ? formatTimestamp(letter.diedAt) : null,
    })),
  };
}

function statusText({ bus, outboxes, consumers, dead_letters: letters }: ReturnType<typeof showStatus>): string {
  return [
    ...(bus === "ok" ? [] : [bus]),
    ...outboxes.map(
      ({ name, unpublished, published, bytes }) =>
        `outbox ${name}  ${unpublished} unpublished  ${published} published and not taken  ${bytes} bytes`,
    ),
    ...outboxes.flatMap(({ name, failing }) =>
      failing.map(
        ({ message_id: id, subject, attempts, reason }) =>
          `refused in outbox ${name}  ${subject}  ${id}  ${attempts} attempts: ${reason}`,
      ),
    ),
    ...consumers.map(
      ({ name, subject, waiting, delivered, oldest_at: oldest, dead_letters: dead }) =>
        `consumer ${name}  ${subject}  ${waiting} waiting  ${delivered} being worked at or coming again` +
        `${oldest === null ? "" : `  oldest ${oldest}`}  ${dead} dead letters`,
    ),
    ...letters.map(
      ({ consumer, message_id: id, subject, deliveries, reason }) =>
        `dead letter of ${consumer}  ${subject}  ${id}  after ${deliveries} deliveries: ${reason}`,
    ),
  ].join("\n");
}
