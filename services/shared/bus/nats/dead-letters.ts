/**
 * Dead letters: messages that a consumer gave up. The stream stores them under subjects without consumers, until an
 * operator retries them or its age limit (7 days) deletes them.
 */
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { JetStreamApiError, type JetStreamClient, type JetStreamManager, type JsMsg } from "@nats-io/jetstream";
import type { DeadLetter, RewriteLetter } from "../bus.ts";
import { reasonOf } from "../delivery.ts";
import { signatureHeader, type Signer } from "./signature.ts";
import { deadPrefix, streamName } from "./stream.ts";

const names = {
  subject: "Daybook-Subject",
  messageId: "Daybook-Message-Id",
  /** The consumer that failed, and the only one that a retried message is for. */
  consumer: "Daybook-Consumer",
  reason: "Daybook-Reason",
  deliveries: "Daybook-Deliveries",
  time: "Daybook-Time",
} as const;

// Limits for forged headers, because a server allows 64 KB. Our ids are UUIDs, our signatures about 60 characters.
const idCharsMax = 100;
const signatureCharsMax = 100;

/** Dead letters in one description, the oldest first. */
const describedMax = 100;
/** Dead letters that one call retries. */
const retriedMax = 500;
/** Dead letters that one call looks at to find one. */
const lookedAtMax = 10_000;

/** The id of a message, first published or retried; empty when it has none. */
export function messageIdOf({ headers: messageHeaders }: { headers?: MsgHdrs | undefined }): string {
  return messageHeaders?.get(names.messageId) || messageHeaders?.get("Nats-Msg-Id") || "";
}

/** Sets the id without deduplication by the server. */
export function nameMessage(messageHeaders: MsgHdrs, id: string): MsgHdrs {
  messageHeaders.set(names.messageId, id);
  return messageHeaders;
}

/** Whether a message is for a consumer: a retried one is only for the consumer that failed. */
export function isFor(message: JsMsg, consumer: string): boolean {
  return [consumer, ""].includes(message.headers?.get(names.consumer) ?? "");
}

/** Stores a message as a dead letter of a consumer. Resolves once the server has it. */
export async function bury(
  client: JetStreamClient,
  consumer: string,
  message: JsMsg,
  death: { failure: Error; deliveries: number },
): Promise<void> {
  const messageHeaders = headers();
  copySignature(message.headers, messageHeaders);
  messageHeaders.set(names.subject, message.subject);
  const id = messageIdOf(message).slice(0, idCharsMax);
  messageHeaders.set(names.messageId, id);
  messageHeaders.set(names.consumer, consumer);
  messageHeaders.set(names.reason, reasonOf(death.failure));
  messageHeaders.set(names.deliveries, String(death.deliveries));
  messageHeaders.set(names.time, new Date().toISOString());
  // A retried message that fails again has another sequence, so it is another letter.
  const msgID = `dead ${consumer} ${message.info.streamSequence} ${id}`;
  await client.publish(deadPrefix + consumer, message.data, { headers: messageHeaders, msgID });
}

/** Counts dead letters by consumer. */
export async function countDeadLetters(manager: JetStreamManager): Promise<Map<string, number>> {
  const { state } = await manager.streams.info(streamName, { subjects_filter: `${deadPrefix}>` });
  return new Map(
    Object.entries(state.subjects ?? {}).map(([subject, count]) => [subject.slice(deadPrefix.length), count]),
  );
}

/** Describes the oldest dead letters. */
export async function describeDeadLetters(manager: JetStreamManager): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = [];
  for await (const { header, subject } of readLetters(manager, `${deadPrefix}>`)) {
    letters.push({
      consumer: subject.slice(deadPrefix.length),
      messageId: header.get(names.messageId),
      subject: header.get(names.subject),
      reason: header.get(names.reason),
      deliveries: Number(header.get(names.deliveries)),
      diedAt: Date.parse(header.get(names.time)) * 1000,
    });
    if (letters.length === describedMax) break;
  }
  return letters;
}

/**
 * Retries dead letters: publishes each on its subject again, only for the consumer that failed, and then deletes the
 * letter. A crash between the two retries the letter again later.
 * @param messageId retries only the oldest letter of this message.
 */
export async function retryDeadLetters(
  client: JetStreamClient,
  manager: JetStreamManager,
  consumer: string | undefined,
  messageId?: string,
): Promise<{ retried: number; isComplete: boolean }> {
  const { state } = await manager.streams.info(streamName);
  let retried = 0;
  let lookedAt = 0;
  for await (const { header, data, seq } of readLetters(manager, deadPrefix + (consumer ?? ">"))) {
    // Letters stored since this began wait for the next call.
    if (seq > state.last_seq) break;
    if (retried === retriedMax) return { retried, isComplete: false };
    if (messageId !== undefined && header.get(names.messageId) !== messageId) {
      if (++lookedAt === lookedAtMax) return { retried, isComplete: false };
      continue;
    }
    const messageHeaders = nameMessage(headers(), header.get(names.messageId));
    // The message keeps its own signature, so that a forged dead letter does not get a valid one.
    copySignature(header, messageHeaders);
    messageHeaders.set(names.consumer, header.get(names.consumer));
    await client.publish(header.get(names.subject), data, { headers: messageHeaders, msgID: `retry ${seq}` });
    await deleteLetter(manager, seq);
    retried++;
    if (messageId !== undefined) break;
  }
  return { retried, isComplete: true };
}

/**
 * Replaces dead letters of a subject by ones with another payload. Signed letters are signed again, forged ones never.
 */
export async function rewriteDeadLetters(
  { client, manager, signer }: { client: JetStreamClient; manager: JetStreamManager; signer: Signer },
  subject: string,
  rewrite: RewriteLetter,
): Promise<void> {
  const { state } = await manager.streams.info(streamName);
  for await (const { subject: dead, header, data, seq } of readLetters(manager, `${deadPrefix}>`)) {
    // Letters stored since this began are new or already rewritten.
    if (seq > state.last_seq) return;
    if (header.get(names.subject) !== subject) continue;
    const rewritten = rewrite(data);
    if (!rewritten) continue;
    const messageHeaders = signer.isSigned({ subject, data, headers: header })
      ? signer.sign(subject, rewritten)
      : headers();
    for (const name of Object.values(names)) messageHeaders.set(name, header.get(name));
    await client.publish(dead, rewritten, { headers: messageHeaders, msgID: `rewritten ${seq}` });
    await deleteLetter(manager, seq);
  }
}

async function deleteLetter(manager: JetStreamManager, seq: number): Promise<void> {
  await manager.streams.deleteMessage(streamName, seq).catch((error: unknown) => {
    // Another process deleted it at the same time.
    if (!(error instanceof JetStreamApiError)) throw error;
  });
}

function copySignature(from: MsgHdrs | undefined, to: MsgHdrs): void {
  const signature = from?.get(signatureHeader) ?? "";
  if (signature !== "" && signature.length <= signatureCharsMax) to.set(signatureHeader, signature);
}

async function* readLetters(manager: JetStreamManager, subject: string) {
  for (let seq = 0; ;) {
    const letter = await manager.streams.getMessage(streamName, nextOf(subject, seq));
    if (!letter) return;
    yield letter;
    seq = letter.seq + 1;
  }
}

/** Requests the next message of a subject. Servers support this since 2.9, the client's types do not. */
export function nextOf(subject: string, sequence: number): { seq: number } {
  const request = { seq: sequence, next_by_subj: subject };
  return request;
}
