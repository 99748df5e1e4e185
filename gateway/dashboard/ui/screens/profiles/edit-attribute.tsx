/** Writes one attribute of a profile: its exact JSON text. */
import { useMutation } from "@connectrpc/connect-query";
import { useMemo, useState } from "react";
import { AttributeOperator, type Profile, ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { TextArea, TextField } from "../../components/field.tsx";
import { toast } from "../../components/toasts.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { failureOf } from "../../data/failures.ts";
import { useProperty } from "../../data/viewer.ts";
import { type Attribute, attributesOf } from "./attributes.ts";
import { useRereadProfiles } from "./reread.ts";
import { WriteError } from "./write-error.tsx";

/** @param attribute absent for a new one. */
export function EditAttribute({
  of: profile,
  attribute,
  onClose,
}: {
  of: Profile;
  attribute?: Attribute;
  onClose: () => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const [name, setName] = useState(attribute?.name ?? "");
  const [json, setJson] = useState(attribute?.json ?? '""');
  // Of the profile as the dialog was opened: a write to a later one is refused. After a reload, of the one shown.
  const [openedVersion, setOpenedVersion] = useState<bigint | undefined>(profile.version);
  const [isDeleting, setDeleting] = useState(false);
  const reread = useRereadProfiles();
  const update = useMutation(ProfileService.method.updateProfile, {
    onSuccess: async () => {
      await reread();
      toast(`"${name}" is ${isDeleting ? "deleted" : "written"}.`);
      onClose();
    },
  });
  const fault = jsonFault(json);
  const fields = update.error ? [...failureOf(update.error).fields] : [];
  const atPath = fields.find(([param]) => param.includes(".path"))?.[1];
  const atValue = fields.find(([param]) => param.startsWith("attribute") && !param.includes(".path"))?.[1];
  // All attributes can have 256 KB, so they are not parsed at each key that is typed.
  const stored = useMemo(() => attributesOf(profile.attributesJson), [profile.attributesJson]);
  const now = stored.find((other) => other.name === name)?.json;
  const write = (op: AttributeOperator): void =>
    update.mutate({
      propertyId,
      profileId: profile.id,
      attributeOperations: [{ op, path: [name], ...(op === AttributeOperator.SET && { valueJson: json }) }],
      precondition: { versions: [openedVersion ?? profile.version] },
      source: "dashboard",
    });
  const reload = async (): Promise<void> => {
    await reread();
    update.reset();
    setOpenedVersion(undefined);
  };
  if (isDeleting) {
    return (
      <ConfirmDialog
        title="Delete the attribute?"
        action="Delete the attribute"
        isPending={update.isPending}
        error={update.error}
        onConfirm={() => write(AttributeOperator.DELETE)}
        onClose={() => {
          update.reset();
          setDeleting(false);
        }}
      >
        <p>
          <code>{name}</code> and its value are deleted. Daybook keeps no earlier values.
        </p>
      </ConfirmDialog>
    );
  }
  return (
    <Dialog title={attribute ? "Edit an attribute" : "Add an attribute"} onClose={onClose} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          write(AttributeOperator.SET);
        }}
      >
        <TextField
          label="Name"
          required
          readOnly={attribute !== undefined}
          autoComplete="off"
          value={name}
          onChange={setName}
          error={atPath}
        />
        <TextArea
          label="Value"
          help={'JSON: a text in quotes such as "gold", a number, true, false, null, [ … ] or { … }. Kept as written.'}
          rows={Math.min(16, Math.max(3, json.split("\n").length + 1))}
          spellCheck={false}
          value={json}
          onChange={setJson}
          error={fault ?? atValue}
        />
        {(openedVersion === undefined || (!attribute && now !== undefined)) && (
          <div className="field" role="status">
            <p className="help">{now === undefined ? "It is not there now." : "Its value now:"}</p>
            {now !== undefined && (
              <pre className="json-now" tabIndex={0} aria-label="Value now">
                <code>{now}</code>
              </pre>
            )}
          </div>
        )}
        {atPath === undefined && atValue === undefined && (
          <WriteError error={update.error} onReload={() => void reload()} />
        )}
        <footer>
          {attribute && (
            <button
              type="button"
              className="button dangerous footer-start"
              disabled={update.isPending}
              onClick={() => setDeleting(true)}
            >
              Delete …
            </button>
          )}
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton isPending={update.isPending} disabled={fault !== undefined || name === ""}>
            Write
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}

/** The service is the judge of JSON; this only says early what it would say. */
function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
}
