/** Replaces the password of whoever knows the one before. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { InlineError, TextField } from "../../components/field.tsx";
import { Section } from "../../components/page.tsx";
import { errorCodeOf } from "../../data/failures.ts";
import { toast } from "../../components/toasts.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";

const lengthMin = 12;

export function ChangePassword(): React.ReactNode {
  const [currentPassword, setCurrent] = useState("");
  const [newPassword, setNew] = useState("");
  const change = useMutation(MemberService.method.changePassword, {
    onSuccess: () => {
      setCurrent("");
      setNew("");
      toast("Your password is changed. Your other sessions ended.");
    },
  });
  const isWrong = errorCodeOf(change.error) === "wrong_password";
  return (
    <Section title="Password">
      <form
        className="narrow"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ currentPassword, newPassword });
        }}
      >
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          value={currentPassword}
          onChange={setCurrent}
          error={isWrong ? "This is not your password." : undefined}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          required
          minLength={lengthMin}
          help={`At least ${lengthMin} characters. Your other sessions end.`}
          value={newPassword}
          onChange={setNew}
        />
        {!isWrong && <InlineError error={change.error} />}
        <SubmitButton
          className="button"
          isPending={change.isPending}
          disabled={currentPassword === "" || newPassword === ""}
        >
          Change the password
        </SubmitButton>
      </form>
    </Section>
  );
}
