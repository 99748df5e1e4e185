/** Asks for the password when a sensitive call needs a recent sign-in: data/fresh.ts repeats the call. */
import { lazy, Suspense, useSyncExternalStore } from "react";
import { freshness } from "../data/fresh.ts";

// Loaded when it is needed for the first time: most visits need no password.
const Ask = lazy(() => import("./password-dialog.tsx"));

export function SignInAgain(): React.ReactNode {
  const waiting = useSyncExternalStore(freshness.subscribe, freshness.current);
  if (!waiting) return null;
  return (
    <Suspense>
      <Ask waiting={waiting} />
    </Suspense>
  );
}
