/**
 * Dialogs. Each is in the page only while it is open; Esc and a click beside it close it, and the focus goes back.
 * React Aria's modal is loaded for the first of them.
 */
import { lazy, Suspense, useId, useState } from "react";
import { CopyButton } from "./copy.tsx";
import { InlineError } from "./field.tsx";
import type { ModalProps } from "./modal-props.ts";
import { SubmitButton } from "./submit-button.tsx";

const Modal = lazy(() => import("./modal.tsx"));

export function Dialog(props: ModalProps): React.ReactNode {
  return (
    <Suspense>
      <Modal {...props} />
    </Suspense>
  );
}

/** Asks before what cannot be undone. Its text and its button name what will be done. */
export function ConfirmDialog({
  title,
  action,
  typed,
  isPending,
  error,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  /** The button, such as "Revoke the key". */
  action: string;
  /** An id that is to be typed first. */
  typed?: string;
  isPending: boolean;
  error?: unknown;
  onConfirm: () => void;
  onClose: () => void;
  /** What will be done, and what stays. */
  children: React.ReactNode;
}): React.ReactNode {
  const [given, setGiven] = useState("");
  const field = useId();
  return (
    <Dialog title={title} onClose={onClose} isAlert>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onConfirm();
        }}
      >
        {children}
        {typed !== undefined && (
          <div className="field">
            <label htmlFor={field}>
              Type <code>{typed}</code> to confirm
            </label>
            <input
              id={field}
              className="input"
              autoComplete="off"
              spellCheck={false}
              value={given}
              onChange={(event) => setGiven(event.target.value)}
            />
          </div>
        )}
        <InlineError error={error} />
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton
            className="button dangerous"
            isPending={isPending}
            disabled={typed !== undefined && given.trim() !== typed}
          >
            {action}
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}

/** Shows a secret once. It is in the page only while the dialog is open; the caller forgets it in `onClose`. */
export function SecretDialog({
  title,
  secret,
  isHashed = true,
  onClose,
  children,
}: {
  title: string;
  secret: string;
  /** Daybook keeps a hash of it only, and not the secret itself. */
  isHashed?: boolean;
  onClose: () => void;
  children?: React.ReactNode;
}): React.ReactNode {
  return (
    <Dialog title={title} onClose={onClose} isSticky>
      <p>
        {isHashed
          ? "Copy it now: Daybook keeps only its hash and cannot show it again."
          : "Copy it now: Daybook does not show it again."}
      </p>
      <div className="secret">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </div>
      {children}
      <footer>
        <button type="button" className="button primary" onClick={onClose}>
          I have stored it
        </button>
      </footer>
    </Dialog>
  );
}
