/** What every call between services carries and undergoes: credential, request id, caller, deadline, errors, measurement. */
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

/** On whose behalf a call is made. */
export interface Call {
  /** The id of the request at the edge that led to it, or of the first one when several ride together. */
  requestId: string;
  /** Who calls: the id of an API key, or the name of a service that acts by itself. */
  caller: string;
}

const callKey = createContextKey<Call>({ requestId: "", caller: "" }, { description: "on whose behalf" });

const requestIdHeader = "x-request-id";
const callerHeader = "x-caller";
const callTimeoutMs = 10_000;

/**
 * Options for a call made on somebody's behalf.
 * @param signal that nobody waits for the answer any more: for calls that only read, and ride alone.
 */
export function callOptions(call: Call, timeoutMs = callTimeoutMs, signal?: AbortSignal): CallOptions {
  return { timeoutMs, contextValues: createContextValues().set(callKey, call), ...(signal ? { signal } : {}) };
}

/**
 * Options for a call that a process makes by itself.
 * @param caller the name of a service or tool.
 */
export function systemCall(caller: string, timeoutMs?: number): CallOptions {
  return callOptions({ requestId: "", caller }, timeoutMs);
}

/** On whose behalf a handler is at work. */
export function callOf(context: HandlerContext): Call {
  return context.values.get(callKey);
}

/** Options for a call that a handler makes to do its work: the same caller, and no more time than it has itself. */
export function onwardOptions(context: HandlerContext): CallOptions {
  return callOptions(callOf(context), remainingMs(context));
}

/** The same for a call that only reads: it ends once nobody waits for the handler. */
export function onwardReadOptions(context: HandlerContext): CallOptions {
  return callOptions(callOf(context), remainingMs(context), context.signal);
}

function remainingMs(context: HandlerContext): number {
  const remaining = context.timeoutMs();
  return remaining === undefined ? callTimeoutMs : Math.max(1, remaining);
}

/** Tells the server on whose behalf a call is made. */
export const tellCall: Interceptor = (next) => async (request) => {
  const { requestId, caller } = request.contextValues.get(callKey);
  request.header.set(requestIdHeader, requestId);
  request.header.set(callerHeader, caller);
  return next(request);
};

/** Shows the internal credential to the server. */
export function showCredential(credential: string): Interceptor {
  return (next) => async (request) => {
    request.header.set("authorization", `Bearer ${credential}`);
    return next(request);
  };
}

/** Interceptors of a server. Who may call is checked before, by `credentialCheck`, as a body may be large. */
export function serverInterceptors(log: Log, registry: Registry): Interceptor[] {
  const duration = metricOf(registry, Histogram, {
    name: "daybook_rpc_duration_seconds",
    help: "Time to answer a call.",
    labelNames: ["method", "code"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
  });

  return [
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
        const itsLog = log.child({ requestId, caller, method });
        if (request.signal.aborted) logAbandoned(itsLog, error, request.signal.reason);
        else logFailure(itsLog, error, answer);
        throw answer;
      }
    },
  ];
}

/** What failed after nobody waited for it any more failed for that reason. Only a deadline that passed is news. */
function logAbandoned(log: Log, error: unknown, reason: unknown): void {
  const { code, rawMessage } = ConnectError.from(reason);
  if (code === Code.DeadlineExceeded)
    log.warn({ reason: rawMessage, err: error }, "a call took too long and was given up");
  else log.debug({ reason: rawMessage }, "a call was given up by its caller");
}

/** What a caller did wrong is news for the caller, what we did wrong is news for the log. */
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

/** @returns what says whether an Authorization header carries the credential. How long it takes tells nothing of the credential. */
export function credentialCheck(credential: string): (authorization: string | undefined) => boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const expected = digest(`Bearer ${credential}`);
  return (authorization = "") => timingSafeEqual(digest(authorization), expected);
}
