/** What stands in the place of a screen that failed or that there is not. */
import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { EmptyState, ErrorState } from "../components/states.tsx";

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
    <div className="lone">
      <ErrorState error={error} onRetry={retry} />
    </div>
  );
}

function isMissingFile(error: unknown): boolean {
  return error instanceof TypeError && /module|import/i.test(error.message);
}

export function MissingScreen(): React.ReactNode {
  return (
    <div className="lone">
      <EmptyState title="There is no such page" level={1}>
        <p>The address may be wrong, or the property is not open to you.</p>
        <p>
          <Link to="/" className="button">
            Go to the dashboard
          </Link>
        </p>
      </EmptyState>
    </div>
  );
}
