/**
 * Dead letters: messages that a consumer failed to take time and again. They stand in the same stream under subjects of their own, where
 * nobody takes them, until an operator gives them back or the stream's age limit (7 days) ends them.
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
  /** Who failed; on a message that was given back, the only one that it is for. */
  consumer: "Daybook-Consumer",
  reason: "Daybook-Reason",
  deliveries: "Daybook-Deliveries",
  time: "Daybook-Time",
} as const;

// Ours are a UUID, and a time with 32 bytes in base64url. A stranger's could leave no room for the headers of a dead letter, which a server takes up to 64 KB.
const idCharsMax = 100;
const signatureCharsMax = 100;

/** Dead letters that are described, the oldest first. */
const shownMax = 100;
/** Dead letters that one call gives back. */
const retriedMax = 500;

/** The id of a message, whichever way it came. */
export function messageIdOf({ headers: given }: { headers?: MsgHdrs | undefined }): string {
  return given?.get(names.messageId) || given?.get("Nats-Msg-Id") || "";
}

/** Names a message that the server is not to know as a repeat. */
export function nameMessage(given: MsgHdrs, id: string): MsgHdrs {
  given.set(names.messageId, id);
  return given;
}

/** Whether a message is for a consumer: one that was given back is only for who failed. */
export function isFor(message: JsMsg, consumer: string): boolean {
  return [consumer, ""].includes(message.headers?.get(names.consumer) ?? "");
}

/** Puts a message among the dead letters of a consumer. Resolves once the server has it. */
export async function bury(
  client: JetStreamClient,
  consumer: string,
  message: JsMsg,
  death: { failure: Error; deliveries: number },
): Promise<void> {
  const given = headers();
  copySignature(message.headers, given);
  given.set(names.subject, message.subject);
  const id = messageIdOf(message).slice(0, idCharsMax);
  given.set(names.messageId, id);
  given.set(names.consumer, consumer);
  given.set(names.reason, reasonOf(death.failure));
  given.set(names.deliveries, String(death.deliveries));
  given.set(names.time, new Date().toISOString());
  // One that is given back and dies again has another sequence: it is another letter.
  const msgID = `dead ${consumer} ${message.info.streamSequence} ${id}`;
  await client.publish(deadPrefix + consumer, message.data, { headers: given, msgID });
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
    if (letters.length === shownMax) break;
  }
  return letters;
}

/**
 * Gives dead letters back: each is published on its subject once more, for the consumer that failed alone, and is then a dead letter no more.
 * Should this process end between the two, it is given back again later, and comes twice as any message may.
 */
export async function retryDeadLetters(
  client: JetStreamClient,
  manager: JetStreamManager,
  consumer: string | undefined,
): Promise<{ retried: number; isComplete: boolean }> {
  const { state } = await manager.streams.info(streamName);
  let retried = 0;
  for await (const { header, data, seq } of readLetters(manager, deadPrefix + (consumer ?? ">"))) {
    // It died again since this began.
    if (seq > state.last_seq) break;
    if (retried === retriedMax) return { retried, isComplete: false };
    const given = nameMessage(headers(), header.get(names.messageId));
    // It keeps its own signature: whoever forged a dead letter does not have it signed by us.
    copySignature(header, given);
    given.set(names.consumer, header.get(names.consumer));
    await client.publish(header.get(names.subject), data, { headers: given, msgID: `retry ${seq}` });
    await deleteLetter(manager, seq);
    retried++;
  }
  return { retried, isComplete: true };
}

/**
 * Rewrites the dead letters of a subject: each is replaced by one that differs in nothing but its payload. One that was signed is signed anew; one
 * that somebody forged stays without a signature.
 */
export async function rewriteDeadLetters(
  { client, manager, signer }: { client: JetStreamClient; manager: JetStreamManager; signer: Signer },
  subject: string,
  rewrite: RewriteLetter,
): Promise<void> {
  const { state } = await manager.streams.info(streamName);
  for await (const { subject: dead, header, data, seq } of readLetters(manager, `${deadPrefix}>`)) {
    // It died, or was rewritten, since this began.
    if (seq > state.last_seq) return;
    if (header.get(names.subject) !== subject) continue;
    const rewritten = rewrite(data);
    if (!rewritten) continue;
    const given = signer.isSigned({ subject, data, headers: header }) ? signer.sign(subject, rewritten) : headers();
    for (const name of Object.values(names)) given.set(name, header.get(name));
    await client.publish(dead, rewritten, { headers: given, msgID: `rewritten ${seq}` });
    await deleteLetter(manager, seq);
  }
}

async function deleteLetter(manager: JetStreamManager, seq: number): Promise<void> {
  await manager.streams.deleteMessage(streamName, seq).catch((error: unknown) => {
    // Somebody else deleted it at the same time.
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

/** Asks for the first message of a subject from a sequence on; the server knows that since 2.9, the client's types do not. */
export function nextOf(subject: string, sequence: number): { seq: number } {
  const request = { seq: sequence, next_by_subj: subject };
  return request;
}
