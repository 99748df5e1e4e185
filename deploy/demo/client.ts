/** The API of a Daybook, with patience: what can be tried again is tried again. */
import { pause } from "#shared/scheduling/pause.ts";

/** Something that whoever runs the demo can put right. */
export class DemoError extends Error {}

export interface Answer {
  status: number;
  // The API says what it is.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

interface SendOptions {
  /** Makes a repeat of a write do nothing. */
  idempotencyKey?: string;
  /** For how long to go on without an answer. */
  patienceMs?: number;
}

export interface Client {
  get(path: string, options?: SendOptions): Promise<Answer>;
  post(path: string, body: object, options?: SendOptions): Promise<Answer>;
  patch(path: string, body: object, options?: SendOptions): Promise<Answer>;
}

const patienceMsDefault = 120_000;
const requestTimeoutMs = 60_000;
const pauseMs = { first: 250, max: 5_000 };

/**
 * Repeats what is refused with 429 or 503, or has no answer; all other answers are the caller's to judge.
 * @param stopping ends every request.
 * @throws DemoError when Daybook has not answered for long
 */
export function createClient(address: string, key: string, stopping: AbortSignal): Client {
  const attempt = async (method: string, path: string, text: string | undefined, headers: Record<string, string>) => {
    const response = await fetch(address + path, {
      method,
      headers,
      signal: AbortSignal.any([stopping, AbortSignal.timeout(requestTimeoutMs)]),
      ...(text === undefined ? {} : { body: text }),
    });
    const answer = await response.text();
    // What is no Daybook may answer anything.
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    const body: unknown = isJson ? JSON.parse(answer) : undefined;
    return { status: response.status, body, retryAfterS: Number(response.headers.get("retry-after")) };
  };
  const send = async (method: string, path: string, body?: object, options: SendOptions = {}): Promise<Answer> => {
    const { idempotencyKey, patienceMs = patienceMsDefault } = options;
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const deadline = Date.now() + patienceMs;
    for (let waitMs = pauseMs.first; ; waitMs = Math.min(2 * waitMs, pauseMs.max)) {
      const answer = await attempt(method, path, text, headers).catch((error: unknown) => toReason(error));
      stopping.throwIfAborted();
      if (typeof answer !== "string" && !isForLater(answer)) return answer;
      if (Date.now() >= deadline) {
        if (typeof answer === "string") throw new DemoError(`No Daybook answers at ${address}: ${answer}`);
        throw new DemoError(`${address} refuses ${method} ${path} with ${answer.status}: ${messageOf(answer)}`);
      }
      const toldMs = typeof answer === "string" ? 0 : answer.retryAfterS * 1000;
      await pause(Math.max(toldMs, waitMs), stopping);
    }
  };
  return {
    get: (path, options) => send("GET", path, undefined, options),
    post: (path, body, options) => send("POST", path, body, options),
    patch: (path, body, options) => send("PATCH", path, body, options),
  };
}

/** @throws DemoError with the message of the API unless the answer is good. */
export function good(answer: Answer): Answer {
  if (answer.status < 300) return answer;
  throw new DemoError(`The API refused a request of the demo with ${answer.status}: ${messageOf(answer)}`);
}

export function codeOf(answer: Answer): string | undefined {
  return errorOf(answer)?.code;
}

/** The first error of an answer, of either surface. */
function errorOf({ body }: Answer): { code: string; message?: string; detail?: string } | undefined {
  type Failure = ReturnType<typeof errorOf>;
  const { error, errors } = (body ?? {}) as { error?: Failure; errors?: Failure[] };
  return error ?? errors?.[0];
}

function isForLater(answer: Answer & { retryAfterS: number }): boolean {
  const hasItemForLater = (results: unknown): boolean =>
    Array.isArray(results) && results.some(({ status }: { status: number }) => status >= 500);
  const { status, body } = answer as { status: number; body?: { data?: { results?: unknown } } };
  // Sent again under its key, a batch does what it did not do.
  if (status === 200) return hasItemForLater(body?.data?.results);
  return status === 429 || status >= 500 || codeOf(answer) === "idempotency_key_in_use";
}

function messageOf(answer: Answer): string {
  const error = errorOf(answer);
  return error?.message ?? error?.detail ?? "no reason given";
}

function toReason(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code || message : message;
}
