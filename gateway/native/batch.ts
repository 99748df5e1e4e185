/** Batches: what became of each item, in order. */
import type { FastifyReply } from "fastify";
import { DaybookError, settleNow, type FieldError } from "#shared/values/errors.ts";
import { isJsonObject } from "#shared/json/json.ts";
import type { Exchange } from "../surface/exchange.ts";
import { sendData } from "./envelope.ts";

/** What became of one item. */
export interface BatchItemResult {
  status: number;
  client_reference: string | null;
  data: { id: string; object: string } | null;
  error: { type: string; code: string; message: string; param: string | null; errors?: readonly FieldError[] } | null;
}

/** An item as far as it could be read. */
export interface ReadItem<Input> {
  clientReference: string | null;
  /** What to do, or why it cannot be done. */
  input: Input | DaybookError;
}

/** Reads an item; a bad one fails alone. */
export function readItem<Input>(item: unknown, read: (item: unknown) => Input): ReadItem<Input> {
  const reference = isJsonObject(item) ? item.client_reference : undefined;
  const clientReference = typeof reference === "string" ? reference : null;
  return { clientReference, input: settleNow(() => read(item)) };
}

/**
 * Does what the items say that could be read, all at once, and answers for all.
 * @param act does it for inputs in order.
 * @param toResult what became of an input: its status and the resource, or an error.
 */
export async function answerItems<Input, Outcome>(
  items: readonly ReadItem<Input>[],
  act: (inputs: Input[]) => Promise<readonly Outcome[]>,
  toResult: (outcome: Outcome) => Pick<BatchItemResult, "status" | "data"> | DaybookError,
): Promise<BatchItemResult[]> {
  const inputs = items.flatMap(({ input }) => (input instanceof DaybookError ? [] : [input]));
  const outcomes = inputs.length > 0 ? await act(inputs) : [];
  if (outcomes.length !== inputs.length) throw new Error("not every item was answered");
  const remaining = outcomes.values();
  return items.map(({ clientReference, input }) => {
    const result = input instanceof DaybookError ? input : toResult(remaining.next().value as Outcome);
    if (!(result instanceof DaybookError)) return { client_reference: clientReference, error: null, ...result };
    const { status, type, code, message, param, errors } = result;
    const error = { type, code, message, param, ...(errors.length > 0 ? { errors } : {}) };
    return { status, client_reference: clientReference, data: null, error };
  });
}

/** Answers with a batch result. */
export function sendBatch(exchange: Exchange, results: readonly BatchItemResult[]): FastifyReply {
  // Those that failed on our side are done when the same is sent again, and the others are not done again.
  exchange.request.isUnfinished = results.some(({ status }) => status >= 500);
  const failed = results.filter(({ error }) => error !== null).length;
  const counts = { succeeded: results.length - failed, failed };
  return sendData(exchange, JSON.stringify({ object: "batch_result", results, counts }));
}
