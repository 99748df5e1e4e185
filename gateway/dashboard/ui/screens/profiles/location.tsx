/** Where a person is, as far as known. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Profile, ProfileService, ProfileStatus } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { KeyValues, Section } from "../../components/page.tsx";
import { toast } from "../../components/toasts.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { failureOf } from "../../data/failures.ts";
import { useMay, useProperty } from "../../data/viewer.ts";
import { useRereadProfiles } from "./reread.ts";
import { WriteError } from "./write-error.tsx";

const fields = [
  { name: "city", title: "City", max: 255 },
  { name: "region", title: "Region", max: 255 },
  { name: "country", title: "Country", max: 2, help: "Two letters, such as PT." },
  { name: "timezone", title: "Time zone", max: 64, help: "Such as Europe/Lisbon." },
  { name: "zip", title: "Postal code", max: 32 },
] as const;

export function Place({ of: profile }: { of: Profile }): React.ReactNode {
  const mayWrite = useMay("profiles:write") && profile.status === ProfileStatus.ACTIVE;
  const [isEditing, setEditing] = useState(false);
  const known = fields.flatMap(({ name, title }) => {
    const value = profile.location?.[name];
    return value === undefined ? [] : [[title, <bdi key={name}>{value}</bdi>] as const];
  });
  return (
    <Section
      title="Location"
      actions={
        mayWrite && (
          <button type="button" className="button small" onClick={() => setEditing(true)}>
            Edit
          </button>
        )
      }
    >
      {known.length === 0 ? <p className="muted">Unknown.</p> : <KeyValues rows={Object.fromEntries(known)} />}
      {isEditing && <EditLocation of={profile} onClose={() => setEditing(false)} />}
    </Section>
  );
}

function EditLocation({ of: profile, onClose }: { of: Profile; onClose: () => void }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const [before, setBefore] = useState(profile);
  const [texts, setTexts] = useState(() =>
    Object.fromEntries(fields.map(({ name }) => [name, profile.location?.[name] ?? ""])),
  );
  const reread = useRereadProfiles();
  const update = useMutation(ProfileService.method.updateProfile, {
    onSuccess: async () => {
      await reread();
      toast("The location is written.");
      onClose();
    },
  });
  const faults = update.error ? failureOf(update.error).fields : undefined;
  const faultOf = (name: string): string | undefined =>
    faults?.get(`location.${name}`) ?? faults?.get(`location.set.${name}`);
  const changed = fields.filter(({ name }) => (texts[name] ?? "").trim() !== (before.location?.[name] ?? ""));
  return (
    <Dialog title="Edit the location" onClose={onClose} isSticky>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const isGiven = ({ name }: { name: string }): boolean => (texts[name] ?? "").trim() !== "";
          update.mutate({
            propertyId,
            profileId: profile.id,
            location: {
              set: Object.fromEntries(changed.filter(isGiven).map(({ name }) => [name, (texts[name] ?? "").trim()])),
              clear: changed.filter((field) => !isGiven(field)).map(({ name }) => name),
            },
            precondition: { versions: [before.version] },
            source: "dashboard",
          });
        }}
      >
        {fields.map(({ name, title, max, ...field }) => (
          <TextField
            key={name}
            label={title}
            maxLength={max}
            autoComplete="off"
            value={texts[name] ?? ""}
            onChange={(value) => setTexts({ ...texts, [name]: value })}
            error={faultOf(name)}
            {...field}
          />
        ))}
        {!fields.some(({ name }) => faultOf(name) !== undefined) && (
          <WriteError
            error={update.error}
            onReload={() =>
              void reread().then(() => {
                update.reset();
                setBefore(profile);
              })
            }
          />
        )}
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton isPending={update.isPending} disabled={changed.length === 0}>
            Write
          </SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}
