/**
 * Sensitive methods answer `sign_in_again` unless the password was given in the last 10 minutes. Then the dialog of
 * app/sign-in-again.tsx asks for it, and the call is repeated: screens need not know.
 */
import type { Interceptor } from "@connectrpc/connect";
import { errorCodeOf } from "./failures.ts";

/** A call that waits for the password. */
export interface Waiting {
  /** Whether the password was given. */
  settle: (isFresh: boolean) => void;
  result: Promise<boolean>;
}

let waiting: Waiting | undefined;
const listeners = new Set<() => void>();

function set(next: Waiting | undefined): void {
  waiting = next;
  for (const listener of listeners) listener();
}

/** For useSyncExternalStore. */
export const freshness = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  current: (): Waiting | undefined => waiting,
};

/** Calls that are refused at the same time share one dialog. */
function askForPassword(): Promise<boolean> {
  if (!waiting) {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const settle = (isFresh: boolean): void => {
      set(undefined);
      resolve(isFresh);
    };
    set({ settle, result: promise });
  }
  return waiting?.result ?? Promise.resolve(false);
}

export const signInAgain: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    if (errorCodeOf(error) !== "sign_in_again" || !(await askForPassword())) throw error;
    return await next(request);
  }
};
