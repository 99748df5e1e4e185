/** Batches: reading items and answering with their results, in order. */
import { DaybookError, settleNow, type FieldError } from "#shared/values/errors.ts";
import { isJsonObject } from "#shared/json/json.ts";
import type { Exchange } from "../surface/exchange.ts";
import { answerData } from "./envelope.ts";

export interface BatchItemResult {
  status: number;
  client_reference: string | null;
  data: { id: string; object: string } | null;
  error: { type: string; code: string; message: string; param: string | null; errors?: readonly FieldError[] } | null;
}

export interface ReadItem<Input> {
  clientReference: string | null;
  /** The input to act on, or its fault. */
  input: Input | DaybookError;
}

/** Reads an item, so that a bad one fails alone. */
export function readItem<Input>(item: unknown, read: (item: unknown) => Input): ReadItem<Input> {
  const reference = isJsonObject(item) ? item.client_reference : undefined;
  const clientReference = typeof reference === "string" ? reference : null;
  return { clientReference, input: settleNow(() => read(item)) };
}

/**
 * Acts on all valid items at once and makes the results of all items.
 * @param act returns one outcome per input, in order.
 * @param toResult the status and resource of an outcome, or its error.
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

export function answerBatch(exchange: Exchange, results: readonly BatchItemResult[]): string {
  // A retry finishes items that failed with 5xx and does not repeat the others.
  exchange.request.isUnfinished = results.some(({ status }) => status >= 500);
  const failed = results.filter(({ error }) => error !== null).length;
  if (failed > 0) noteRefused(exchange, results);
  const counts = { succeeded: results.length - failed, failed };
  return answerData(exchange, JSON.stringify({ object: "batch_result", results, counts }));
}

function noteRefused({ request, reply }: Exchange, results: readonly BatchItemResult[]): void {
  // The body of a batch has one list, that of its items.
  const lists = isJsonObject(request.body) ? Object.values(request.body).filter((value) => Array.isArray(value)) : [];
  const items: readonly unknown[] = lists.find(({ length }) => length === results.length) ?? [];
  const refused = results.flatMap(({ status, client_reference: clientReference, error }, index) =>
    error === null ? [] : [{ index, item: items[index], status, clientReference, error }],
  );
  request.server.noteRefusedItems(request, reply, refused);
}
