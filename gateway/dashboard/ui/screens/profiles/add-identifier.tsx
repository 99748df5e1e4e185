/** Gives a profile another identifier. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Profile, ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { ComboBox } from "../../components/combo-box.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { InlineError, TextField } from "../../components/field.tsx";
import { toast } from "../../components/toasts.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { failureOf } from "../../data/failures.ts";
import { useProperty } from "../../data/viewer.ts";
import { useRereadProfiles } from "./reread.ts";

const types = [
  { value: "email", title: "email", detail: "ada@example.com" },
  { value: "phone", title: "phone", detail: "+351910000123" },
  { value: "external_id", title: "external_id", detail: "of your own system" },
] as const;

export function AddIdentifier({ to: profile, onClose }: { to: Profile; onClose: () => void }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const [type, setType] = useState("email");
  const [value, setValue] = useState("");
  const [isPrimary, setPrimary] = useState(false);
  const reread = useRereadProfiles();
  const add = useMutation(ProfileService.method.addIdentifier, {
    // What was sent has the value.
    gcTime: 0,
    onSuccess: async ({ created }) => {
      await reread();
      toast(created ? `The ${type} is added.` : `The profile had this ${type} already.`);
      onClose();
    },
  });
  const fields = add.error ? failureOf(add.error).fields : undefined;
  const typeError = fields?.get("identifier.type");
  const valueError = fields?.get("identifier.value") ?? fields?.get("identifier");
  return (
    <Dialog title="Add an identifier" onClose={onClose} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate({
            propertyId,
            profileId: profile.id,
            identifier: { type: type.trim(), value, isPrimary },
            source: "dashboard",
          });
        }}
      >
        <div className="field">
          <ComboBox label="Type" allowsOther value={type} options={types} onChange={setType} />
          {typeError !== undefined && (
            <p className="field-error" role="alert">
              {typeError}
            </p>
          )}
        </div>
        <TextField
          label="Value"
          help="Anonymous events with it become events of this profile, for good."
          required
          maxLength={255}
          autoComplete="off"
          value={value}
          onChange={setValue}
          error={valueError}
        />
        <label className="choice">
          <input type="checkbox" checked={isPrimary} onChange={(event) => setPrimary(event.target.checked)} />
          <span>The primary one of its type</span>
        </label>
        <InlineError error={typeError === undefined && valueError === undefined ? add.error : undefined} />
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton isPending={add.isPending} disabled={value.trim() === ""}>
            Add the identifier
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}
