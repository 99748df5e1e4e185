/** The way to the gateway: Connect under /dashboard/rpc, with the cookie of the session. */
import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { QueryClient } from "@tanstack/react-query";
import { errorCodeOf, failureOf } from "./failures.ts";
import { signInAgain } from "./fresh.ts";

const timeoutMs = 30_000;

/** Leaves for the sign-in page, which leads back here. */
export function leaveForSignIn(): void {
  const { pathname, search } = globalThis.location;
  globalThis.location.assign(`/dashboard/sign-in?${new URLSearchParams({ next: pathname + search }).toString()}`);
}

const signedOut: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    if (errorCodeOf(error) === "sign_in_required") leaveForSignIn();
    throw error;
  }
};

/**
 * Binary is about half the bytes of JSON for lists, and faster to read.
 * @param owner `event`, `profile` or `metric` for the BusService, which several processes have.
 */
export function transportTo(owner?: "event" | "profile" | "metric"): Transport {
  return createConnectTransport({
    baseUrl: owner === undefined ? "/dashboard/rpc" : `/dashboard/rpc/${owner}`,
    useBinaryFormat: true,
    defaultTimeoutMs: timeoutMs,
    interceptors: [signedOut, signInAgain],
  });
}

export const transport = transportTo();

const retriesMax = 2;

/**
 * What was read is fresh for 15 seconds: moving between screens and windows reads nothing twice. Only failures that can
 * pass are retried.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      gcTime: 300_000,
      retry: (count, error) => count < retriesMax && isPassing(error),
      retryDelay: (count) => 500 * 2 ** count,
    },
    mutations: { retry: false },
  },
});

function isPassing(error: unknown): boolean {
  const code = ConnectError.from(error).code;
  return code === Code.Unavailable || (code === Code.Unknown && failureOf(error).canRetry);
}
