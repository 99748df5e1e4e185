/** What every call between services carries and undergoes: credential, request id, caller, deadline, errors, measurement. */
import { timingSafeEqual } from "node:crypto";
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
import {
  errorCatalogue,
  fromConnectError,
  internalError,
  DaybookError,
  serviceUnavailable,
  toConnectError,
} from "./errors.ts";
import { isId } from "./ids.ts";
import type { Log } from "./log.ts";
import { isDatabaseAway } from "./postgres.ts";

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

/** Options for a call made on somebody's behalf. */
export function callOptions(call: Call, timeoutMs = callTimeoutMs): CallOptions {
  return { timeoutMs, contextValues: createContextValues().set(callKey, call) };
}

/** On whose behalf a handler is at work. */
export function callOf(context: HandlerContext): Call {
  return context.values.get(callKey);
}

/** Options for a call that a handler makes to do its work: the same caller, and no more time than it has itself. */
export function onwardOptions(context: HandlerContext): CallOptions {
  const remaining = context.timeoutMs();
  return callOptions(callOf(context), remaining === undefined ? callTimeoutMs : Math.max(1, remaining));
}

/** Interceptors of a client. Its errors are DaybookErrors. */
export function clientInterceptors(credential: string): Interceptor[] {
  return [
    (next) => async (request) => {
      const { requestId, caller } = request.contextValues.get(callKey);
      request.header.set("authorization", `Bearer ${credential}`);
      request.header.set(requestIdHeader, requestId);
      request.header.set(callerHeader, caller);
      return next(request);
    },
  ];
}

/**
 * Calls, and turns what they fail with into a DaybookError.
 * @param rename names the fields at fault as the caller knows them.
 */
export async function calling<T>(response: Promise<T>, rename?: (param: string) => string): Promise<T> {
  try {
    return await response;
  } catch (error) {
    const ours = fromConnectError(error);
    throw rename ? ours.withParams(rename) : ours;
  }
}

/** Interceptors of a server: only holders of the credential are let in. */
export function serverInterceptors(credential: string, log: Log, registry: Registry): Interceptor[] {
  const expected = Buffer.from(`Bearer ${credential}`);
  const duration = durationOf(registry);

  return [
    (next) => async (request) => {
      const { requestId, caller } = readCall(request.header);
      const method = request.method.name;
      const stop = duration.startTimer({ method });
      try {
        if (!isExpected(request.header.get("authorization"), expected)) {
          throw new ConnectError("this service answers only its own mesh", Code.Unauthenticated);
        }
        request.contextValues.set(callKey, { requestId, caller });
        const response = await next(request);
        stop({ code: "ok" });
        return response;
      } catch (error) {
        const answer = toConnectError(isDatabaseAway(error) ? serviceUnavailable(error) : error);
        stop({ code: Code[answer.code] });
        logFailure(log.child({ requestId, caller, method }), error, answer);
        throw answer;
      }
    },
  ];
}

/** One histogram for all services of a process. */
function durationOf(registry: Registry): Histogram {
  const name = "daybook_rpc_duration_seconds";
  const known = registry.getSingleMetric(name);
  if (known) return known as Histogram;
  return new Histogram({
    name,
    help: "Time to answer a call.",
    labelNames: ["method", "code"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
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

function isExpected(received: string | null, expected: Buffer): boolean {
  const bytes = Buffer.from(received ?? "");
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}
