/** Calls between services: credential, request id, caller, deadline, errors, metrics. */
import { createHash, timingSafeEqual } from "node:crypto";
import {
  Code,
  ConnectError,
  createContextKey,
  createContextValues,
  type CallOptions,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import { Histogram, type Registry } from "prom-client";
import { errorCatalogue, internalError, DaybookError, serviceUnavailable } from "../values/errors.ts";
import { toConnectError } from "./errors.ts";
import { isId } from "../values/ids.ts";
import type { Log } from "../process/log.ts";
import { metricOf } from "../process/metrics.ts";
import { isDatabaseAway } from "../database/failures.ts";
import { sendInSpan, serveInSpan } from "../tracing/rpc.ts";
import { isTracing } from "../tracing/spans.ts";

/** On whose behalf a call is made. */
export interface Call {
  /** The id of the gateway's request; the first one's id when a call serves several requests. */
  requestId: string;
  /** The id of an API key, or the name of a service that acts by itself. */
  caller: string;
}

const callKey = createContextKey<Call>({ requestId: "", caller: "" }, { description: "on whose behalf" });

const requestIdHeader = "x-request-id";
export const callerHeader = "x-caller";
const callTimeoutMs = 10_000;

/**
 * Options of a call on behalf of a caller.
 * @param signal aborted when the caller has gone. Only for calls that read, and that serve one request.
 */
export function callOptions(call: Call, timeoutMs = callTimeoutMs, signal?: AbortSignal): CallOptions {
  return { timeoutMs, contextValues: createContextValues().set(callKey, call), ...(signal ? { signal } : {}) };
}

/**
 * Options of a call that a process makes by itself.
 * @param caller the name of a service or tool.
 */
export function systemCall(caller: string, timeoutMs?: number): CallOptions {
  return callOptions({ requestId: "", caller }, timeoutMs);
}

/** On whose behalf a handler runs. */
export function callOf(context: HandlerContext): Call {
  return context.values.get(callKey);
}

/** Options of a call that a handler makes: its caller, and its remaining time. */
export function onwardOptions(context: HandlerContext): CallOptions {
  return callOptions(callOf(context), remainingMs(context));
}

/** The same for a call that only reads: it is cancelled when the handler's caller has gone. */
export function onwardReadOptions(context: HandlerContext): CallOptions {
  return callOptions(callOf(context), remainingMs(context), context.signal);
}

function remainingMs(context: HandlerContext): number {
  const remaining = context.timeoutMs();
  return remaining === undefined ? callTimeoutMs : Math.max(1, remaining);
}

/** Sends the request id and the caller to the server. */
export const tellCall: Interceptor = (next) => async (request) => {
  const { requestId, caller } = request.contextValues.get(callKey);
  request.header.set(requestIdHeader, requestId);
  request.header.set(callerHeader, caller);
  return isTracing() ? sendInSpan(request, next) : next(request);
};

/** Sends the internal credential to the server. */
export function showCredential(credential: string): Interceptor {
  return (next) => async (request) => {
    request.header.set("authorization", `Bearer ${credential}`);
    return next(request);
  };
}

/** Interceptors of a server. Admission comes before them, because a body may be large. */
export function serverInterceptors(log: Log, registry: Registry): Interceptor[] {
  const duration = metricOf(registry, Histogram, {
    name: "daybook_rpc_duration_seconds",
    help: "Time to answer a call.",
    labelNames: ["method", "code"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
  });

  return [
    (next) => (request) => (isTracing() ? serveInSpan(request, next) : next(request)),
    (next) => async (request) => {
      const { requestId, caller } = readCall(request.header);
      const method = request.method.name;
      const stop = duration.startTimer({ method });
      try {
        request.contextValues.set(callKey, { requestId, caller });
        const response = await next(request);
        stop({ code: "ok" });
        return response;
      } catch (error) {
        const answer = request.signal.aborted
          ? ConnectError.from(request.signal.reason, Code.Canceled)
          : toConnectError(isDatabaseAway(error) ? serviceUnavailable(error) : error);
        stop({ code: Code[answer.code] });
        const callLog = log.child({ requestId, caller, method });
        if (request.signal.aborted) logAbandoned(callLog, error, request.signal.reason);
        else logFailure(callLog, error, answer);
        throw answer;
      }
    },
  ];
}

/** Logs a call that ended early, which explains its error. Only an exceeded deadline is a warning. */
function logAbandoned(log: Log, error: unknown, reason: unknown): void {
  const { code, rawMessage } = ConnectError.from(reason);
  if (code === Code.DeadlineExceeded)
    log.warn({ reason: rawMessage, err: error }, "a call took too long and was given up");
  else log.debug({ reason: rawMessage }, "a call was given up by its caller");
}

/** Logs a failed call: our faults as errors, faults of the caller for debugging only. */
function logFailure(log: Log, error: unknown, answer: ConnectError): void {
  const cause = error instanceof DaybookError ? (error.cause ?? error) : error;
  const ours = error instanceof DaybookError ? error : error instanceof ConnectError ? undefined : internalError(error);
  if (ours && errorCatalogue[ours.code].status >= 500) log.error({ err: cause }, "a call failed");
  else log.debug({ code: Code[answer.code], reason: answer.rawMessage }, "a call was refused");
}

function readCall(header: Headers): Call {
  const requestId = header.get(requestIdHeader) ?? "";
  return {
    requestId: isId(requestId) ? requestId : "",
    caller: (header.get(callerHeader) ?? "").slice(0, 64),
  };
}

/** @returns a check of Authorization headers, in constant time so that it reveals nothing of the credential. */
export function credentialCheck(credentials: readonly string[]): (authorization: string | undefined) => boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const expected = credentials.map((credential) => digest(`Bearer ${credential}`));
  return (authorization = "") => {
    const received = digest(authorization);
    // Each is compared, so that the time does not tell which of them it was.
    return expected.filter((known) => timingSafeEqual(received, known)).length > 0;
  };
}
