/** Makes a key, and shows its secret once. */
import { useMutation } from "@connectrpc/connect-query";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useState } from "react";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { apiCalls } from "../../api-calls.ts";
import { Curl } from "../../components/api-call.tsx";
import { Dialog, SecretDialog } from "../../components/dialog.tsx";
import { InlineError, Select, TextField } from "../../components/field.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { failureOf } from "../../data/failures.ts";
import { useProperty, useRights } from "../../data/viewer.ts";
import { type Preset, presets, presetsFor, scopesFor } from "./scopes.ts";
import { useRereadKeys } from "./reread.ts";

const lifetimes = [
  { value: "never", title: "Never" },
  { value: "30", title: "In 30 days" },
  { value: "90", title: "In 90 days" },
  { value: "365", title: "In a year" },
] as const;

type Lifetime = (typeof lifetimes)[number]["value"];

export function CreateKey({ onClose }: { onClose: () => void }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const rights = useRights();
  const [name, setName] = useState("");
  const [preset, setPreset] = useState<Preset>("record");
  const [single, setSingle] = useState<ReadonlySet<string>>(new Set());
  const [lifetime, setLifetime] = useState<Lifetime>("never");
  const reread = useRereadKeys();
  const create = useMutation(IdentityService.method.createKey, { onSuccess: reread, gcTime: 0 });
  const chosen = preset === "custom" ? [...single] : presets[preset].scopes;
  const fields = create.error ? failureOf(create.error).fields : undefined;

  if (create.data) {
    return (
      <SecretDialog title={`Key "${create.data.key?.name ?? ""}"`} secret={create.data.secret} onClose={onClose}>
        <p>Put it into the environment of your program as DAYBOOK_KEY. Try it:</p>
        <Curl call={apiCalls.account()} />
      </SecretDialog>
    );
  }
  return (
    <Dialog title="Create a key" onClose={onClose} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({
            propertyId,
            name,
            scopes: [...chosen],
            allScopes: preset === "all",
            ...(lifetime !== "never" && { expiresAt: timestampFromDate(daysFromNow(Number(lifetime))) }),
          });
        }}
      >
        <TextField
          label="Name"
          help="Which program has it, such as Shop server."
          required
          maxLength={255}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog has its focus in itself
          autoFocus
          value={name}
          onChange={setName}
          error={fields?.get("name")}
        />
        <fieldset>
          <legend>What it may do</legend>
          {presetsFor(rights).map((id) => (
            <label key={id} className="choice">
              <input type="radio" name="preset" checked={preset === id} onChange={() => setPreset(id)} />
              <span>
                <strong>{presets[id].title}</strong>
                <span className="help">{presets[id].detail}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {preset === "custom" && <SingleScopes rights={rights} chosen={single} onChange={setSingle} />}
        <Select label="Expires" value={lifetime} options={lifetimes} onChange={setLifetime} />
        <InlineError error={fields?.has("name") ? undefined : create.error} />
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton
            isPending={create.isPending}
            disabled={name.trim() === "" || (chosen.length === 0 && preset !== "all")}
          >
            Create the key
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}

function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * 86_400_000);
}

function SingleScopes({
  rights,
  chosen,
  onChange,
}: {
  rights: ReadonlySet<string>;
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}): React.ReactNode {
  return (
    <fieldset className="scopes">
      <legend>Scopes</legend>
      {scopesFor(rights).map(({ id, title }) => (
        <label key={id} className="choice">
          <input
            type="checkbox"
            checked={chosen.has(id)}
            onChange={(event) =>
              onChange(new Set(event.target.checked ? [...chosen, id] : [...chosen].filter((other) => other !== id)))
            }
          />
          <span>
            <code>{id}</code> <span className="help">{title}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
