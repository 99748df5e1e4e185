/** Tags of a profile, which members put on it. */
import { useMutation } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { type Profile, ProfileService, ProfileStatus } from "#proto/daybook/profile/v1/profile_pb.ts";
import { InlineError, TextField } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Section } from "../../components/page.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { failureOf } from "../../data/failures.ts";
import { useMay, useProperty } from "../../data/viewer.ts";
import { useRereadProfiles } from "./reread.ts";

export function Tags({ of: profile }: { of: Profile }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const mayWrite = useMay("profiles:write") && profile.status === ProfileStatus.ACTIVE;
  const [text, setText] = useState("");
  const field = useRef<HTMLFormElement>(null);
  const reread = useRereadProfiles();
  const update = useMutation(ProfileService.method.updateTags, { onSuccess: reread });
  const fault = update.error ? failureOf(update.error).fields.get("add.0") : undefined;
  const change = (tags: { add?: string[]; remove?: string[] }, onDone?: () => void): void =>
    update.mutate({ propertyId, profileId: profile.id, ...tags }, { onSuccess: () => onDone?.() });
  return (
    <Section title="Tags">
      {profile.tags.length === 0 ? (
        <p className="muted">None.</p>
      ) : (
        <ul className="tags">
          {profile.tags.map((tag) => (
            <li key={tag} className="tag">
              <Link to="/$property/profiles" params={{ property: propertyId }} search={{ tag }} title={tag}>
                <bdi>{tag}</bdi>
              </Link>
              {mayWrite && (
                <button
                  type="button"
                  aria-label={`Remove the tag ${tag}`}
                  disabled={update.isPending}
                  // The button goes with its tag.
                  onClick={() => change({ remove: [tag] }, () => field.current?.querySelector("input")?.focus())}
                >
                  <Icon name="close" />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {mayWrite && (
        <form
          ref={field}
          className="add-tag"
          onSubmit={(event) => {
            event.preventDefault();
            change({ add: [text.trim()] }, () => setText(""));
          }}
        >
          <TextField
            label="Add a tag"
            isLabelHidden
            placeholder="Add a tag"
            maxLength={255}
            autoComplete="off"
            value={text}
            onChange={setText}
            error={fault}
          />
          <SubmitButton className="button" isPending={update.isPending} disabled={text.trim() === ""}>
            Add
          </SubmitButton>
        </form>
      )}
      <InlineError error={fault === undefined ? update.error : undefined} />
    </Section>
  );
}
