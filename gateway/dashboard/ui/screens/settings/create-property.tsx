/** Makes a property. */
import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { IdentityService, Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { ComboBox } from "../../components/combo-box.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { InlineError, TextField } from "../../components/field.tsx";
import { toast } from "../../components/toasts.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { useRereadViewer } from "../../data/viewer.ts";
import { currencyChoices, zoneChoices } from "./choices.ts";

const modes = [
  { mode: Mode.TEST, title: "Test", detail: "For trying things. Its keys begin with sk_test_." },
  { mode: Mode.LIVE, title: "Live", detail: "For real customers. Its keys begin with sk_live_." },
] as const;

export function CreateProperty({ onClose }: { onClose: () => void }): React.ReactNode {
  const [name, setName] = useState("");
  const [mode, setMode] = useState<Mode>(Mode.TEST);
  const [currency, setCurrency] = useState("USD");
  const [zone, setZone] = useState("UTC");
  const zones = useMemo(() => zoneChoices("UTC"), []);
  const currencies = useMemo(() => currencyChoices("USD"), []);
  const navigate = useNavigate();
  const client = useQueryClient();
  const reread = useRereadViewer();
  const create = useMutation(IdentityService.method.createProperty, {
    onSuccess: async ({ property }) => {
      const list = { schema: IdentityService.method.listProperties, cardinality: "infinite" } as const;
      await Promise.all([reread(), client.invalidateQueries({ queryKey: createConnectQueryKey(list) })]);
      toast(`The property "${property?.name ?? ""}" is made. Create a key for its programs.`);
      await navigate({ to: "/$property/overview", params: { property: property?.id ?? "" } });
    },
  });
  return (
    <Dialog title="Create a property" onClose={onClose} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({ name, mode, defaultCurrency: currency, timezone: zone });
        }}
      >
        <TextField
          label="Name"
          help="Of the store or site."
          required
          maxLength={255}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog has its focus in itself
          autoFocus
          value={name}
          onChange={setName}
        />
        <fieldset>
          <legend>Mode, for good</legend>
          {modes.map((each) => (
            <label key={each.mode} className="choice">
              <input type="radio" name="mode" checked={mode === each.mode} onChange={() => setMode(each.mode)} />
              <span>
                <strong>{each.title}</strong>
                <span className="help">{each.detail}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <ComboBox label="Default currency" value={currency} options={currencies} onChange={setCurrency} />
        <ComboBox label="Time zone" value={zone} options={zones} onChange={setZone} />
        <InlineError error={create.error} />
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton isPending={create.isPending} disabled={name.trim() === ""}>
            Create the property
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}
