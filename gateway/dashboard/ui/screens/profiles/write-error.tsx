/** What went wrong with a write. A change of somebody else meanwhile is explained, and can be looked at. */
import { InlineError } from "../../components/field.tsx";
import { errorCodeOf } from "../../data/failures.ts";

export const isConflict = (error: unknown): boolean => errorCodeOf(error) === "precondition_failed";

export function WriteError({ error, onReload }: { error: unknown; onReload: () => void }): React.ReactNode {
  if (!isConflict(error)) return <InlineError error={error} />;
  return (
    <div className="inline-error" role="alert">
      <strong>Somebody changed this profile meanwhile.</strong> Nothing was written. Reload to see what it is now; what
      you typed stays.
      <p>
        <button type="button" className="button small" onClick={onReload}>
          Reload
        </button>
      </p>
    </div>
  );
}
