/** Empty and failed: what stands where data would. */
import { failureOf } from "../data/failures.ts";
import { Copy } from "./copy.tsx";

/** Says what would appear here, and how to get it. */
export function EmptyState({
  title,
  level = 2,
  children,
}: {
  title: string;
  /** Of the heading. */
  level?: 1 | 2 | 3;
  children?: React.ReactNode;
}): React.ReactNode {
  const Heading = `h${level}` as const;
  return (
    <div className="empty-state">
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}

/** Says what to do about a failure, with a retry where one can help, and the request id for support. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }): React.ReactNode {
  const { title, advice, code, requestId, canRetry } = failureOf(error);
  return (
    <div className="error-state" role="alert">
      <h2>{title}</h2>
      <p>{advice}</p>
      {(code !== undefined || requestId !== undefined) && (
        <p className="muted">
          {code !== undefined && <code>{code}</code>}
          {requestId !== undefined && (
            <>
              {" "}
              Request <Copy text={requestId} label="Copy the request id" />
            </>
          )}
        </p>
      )}
      {onRetry && canRetry && (
        <button type="button" className="button" onClick={onRetry}>
          Retry
        </button>
      )}
    </div>
  );
}
