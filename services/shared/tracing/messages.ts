/**
 * The trace of a message on the bus. It is the last field of the payload, with a number that no message declares, so
 * that it is stored in the outbox with the message, is signed with it, and is skipped by every parser of protobuf.
 */
import { isSpanContextValid, ROOT_CONTEXT, SpanKind, trace, TraceFlags, type Context } from "@opentelemetry/api";
import type { BusHandler, BusMessage, Published } from "../bus/bus.ts";
import { currentContext, forAll, isTracing } from "./spans.ts";

// Field 1000, of 24 bytes: a trace id and a span id. Its first two bytes are no UTF-8, so no text holds them.
const tag = Buffer.from([0xc2, 0x3e, 24]);
const traceIdBytes = 16;
const fieldBytes = tag.length + 24;

/** Adds the active trace to a payload, if there is one that is recorded. */
export function withTrace(payload: Uint8Array): Buffer {
  const active = currentContext();
  const of = active && trace.getSpanContext(active);
  if (!of || (of.traceFlags & TraceFlags.SAMPLED) === 0) return Buffer.from(payload);
  return Buffer.concat([payload, tag, Buffer.from(of.traceId, "hex"), Buffer.from(of.spanId, "hex")]);
}

/** The trace of a message as a context; undefined without one. */
function traceOf({ payload }: BusMessage): Context | undefined {
  const field = Buffer.from(payload.subarray(-fieldBytes));
  if (field.length < fieldBytes || !field.subarray(0, tag.length).equals(tag)) return undefined;
  const ids = field.subarray(tag.length);
  const of = {
    traceId: ids.toString("hex", 0, traceIdBytes),
    spanId: ids.toString("hex", traceIdBytes),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  };
  return isSpanContextValid(of) ? trace.setSpanContext(ROOT_CONTEXT, of) : undefined;
}

/** Publishes messages in a span of their traces. */
export function publishInSpan(
  messages: readonly BusMessage[],
  publish: () => Promise<Published[]>,
): Promise<Published[]> {
  if (!isTracing()) return publish();
  const subjects = new Set(messages.map(({ subject }) => subject));
  const [subject = ""] = subjects;
  const name = subjects.size === 1 ? `publish ${subject}` : "publish";
  const attributes = {
    ...(subjects.size === 1 ? { "messaging.destination.name": subject } : {}),
    "messaging.batch.message_count": messages.length,
  };
  return forAll(messages.map(traceOf), name, { kind: SpanKind.PRODUCER, attributes }, publish);
}

/** Handles messages in a span of their traces. */
export function handleInSpan(consumer: string, subject: string, handler: BusHandler): BusHandler {
  if (!isTracing()) return handler;
  return (messages) => {
    const attributes = {
      "messaging.destination.name": subject,
      "messaging.consumer.group.name": consumer,
      "messaging.batch.message_count": messages.length,
    };
    const options = { kind: SpanKind.CONSUMER, attributes };
    return forAll(messages.map(traceOf), `process ${consumer}`, options, () => handler(messages));
  };
}
