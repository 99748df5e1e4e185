/** The dialog that asks for the password again. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { Dialog } from "../components/dialog.tsx";
import { InlineError, TextField } from "../components/field.tsx";
import { SubmitButton } from "../components/submit-button.tsx";
import { errorCodeOf } from "../data/failures.ts";
import type { Waiting } from "../data/fresh.ts";

export default function PasswordDialog({ waiting }: { waiting: Waiting }): React.ReactNode {
  const [password, setPassword] = useState("");
  const confirm = useMutation(MemberService.method.confirmPassword, { onSuccess: () => waiting.settle(true) });
  const isWrong = errorCodeOf(confirm.error) === "wrong_password";
  return (
    <Dialog title="Your password, please" onClose={() => waiting.settle(false)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          // The gateway knows the session and the address.
          confirm.mutate({ password });
        }}
      >
        <p>What you are about to do is sensitive. It goes on for 10 minutes without asking again.</p>
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog has its focus in itself
          autoFocus
          value={password}
          onChange={setPassword}
          error={isWrong ? "This is not your password." : undefined}
        />
        {!isWrong && <InlineError error={confirm.error} />}
        <footer>
          <button type="button" className="button" onClick={() => waiting.settle(false)}>
            Cancel
          </button>
          <SubmitButton isPending={confirm.isPending} disabled={password === ""}>
            Continue
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}
