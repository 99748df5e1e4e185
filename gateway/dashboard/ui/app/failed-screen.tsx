/** What stands in the place of a screen that failed or that there is not. */
import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { createContext, useContext } from "react";
import { EmptyState, ErrorState } from "../components/states.tsx";

/** Whether the shell is around, which has the main landmark. */
export const InShell = createContext(false);

export function FailedScreen({ error }: ErrorComponentProps): React.ReactNode {
  const router = useRouter();
  const { reset } = useQueryErrorResetBoundary();
  const retry = (): void => {
    reset();
    // A new build has other file names: only a load of the page finds a screen that was never loaded.
    if (isMissingFile(error)) globalThis.location.reload();
    else void router.invalidate();
  };
  return (
    <Lone>
      <ErrorState error={error} onRetry={retry} />
    </Lone>
  );
}

function isMissingFile(error: unknown): boolean {
  return error instanceof TypeError && /module|import/i.test(error.message);
}

export function MissingScreen(): React.ReactNode {
  return (
    <Lone>
      <EmptyState title="There is no such page" level={1}>
        <p>The address may be wrong, or the property is not open to you.</p>
        <p>
          <Link to="/" className="button">
            Go to the dashboard
          </Link>
        </p>
      </EmptyState>
    </Lone>
  );
}

/** The only content of the page, unless it stands in the place of a screen. */
function Lone({ children }: { children: React.ReactNode }): React.ReactNode {
  const isInShell = useContext(InShell);
  return isInShell ? <div className="lone">{children}</div> : <main className="lone">{children}</main>;
}
