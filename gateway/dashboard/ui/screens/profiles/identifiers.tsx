/** What a profile is known by. Values are masked until they are revealed, which leaves an audit entry. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Identifier, type Profile, ProfileService, ProfileStatus } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { InlineError } from "../../components/field.tsx";
import { Menu } from "../../components/menu.tsx";
import type { MenuEntry } from "../../components/menu-props.ts";
import { Badge, Section } from "../../components/page.tsx";
import { toast } from "../../components/toasts.tsx";
import { Time } from "../../components/values.tsx";
import { useMay, useProperty } from "../../data/viewer.ts";
import { AddIdentifier } from "./add-identifier.tsx";
import { primaryFirst } from "./names.ts";
import { useRereadProfiles } from "./reread.ts";
import type { Reveal } from "./reveal.ts";

const shownFirst = 20;

export function Identifiers({ of: profile, reveal }: { of: Profile; reveal: Reveal }): React.ReactNode {
  const mayWrite = useMay("identifiers:write") && profile.status === ProfileStatus.ACTIVE;
  const [isAdding, setAdding] = useState(false);
  const [areAllShown, setAllShown] = useState(false);
  const all = primaryFirst(reveal.profile ?? profile);
  const shown = areAllShown ? all : all.slice(0, shownFirst);
  return (
    <Section
      title="Identifiers"
      actions={
        <span className="actions">
          {reveal.may && all.length > 0 && (
            <button
              type="button"
              className="button small"
              disabled={reveal.isPending}
              aria-pressed={reveal.profile !== undefined}
              onClick={reveal.profile ? reveal.hide : reveal.show}
            >
              {reveal.profile ? "Hide values" : "Reveal values"}
            </button>
          )}
          {mayWrite && (
            <button type="button" className="button small" onClick={() => setAdding(true)}>
              Add
            </button>
          )}
        </span>
      }
    >
      <InlineError error={reveal.error} />
      {reveal.may && all.length > 0 && (
        <p className="help">
          {reveal.profile
            ? "Values are shown until you hide them or leave. That you saw them is on record."
            : "Values are masked. The audit records who reveals them."}
        </p>
      )}
      {all.length === 0 ? (
        <p className="muted">None.</p>
      ) : (
        <ul className="identifiers">
          {shown.map((identifier) => (
            <IdentifierLine
              key={identifier.id}
              identifier={identifier}
              isRevealed={reveal.profile !== undefined}
              mayWrite={mayWrite}
            />
          ))}
        </ul>
      )}
      {all.length > shown.length && (
        <button type="button" className="button small" onClick={() => setAllShown(true)}>
          Show all {all.length}
        </button>
      )}
      {isAdding && <AddIdentifier to={profile} onClose={() => setAdding(false)} />}
    </Section>
  );
}

function IdentifierLine({
  identifier,
  isRevealed,
  mayWrite,
}: {
  identifier: Identifier;
  isRevealed: boolean;
  mayWrite: boolean;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const [isRemoving, setRemoving] = useState(false);
  const reread = useRereadProfiles();
  const { id: identifierId, profileId, type, value, isPrimary, source } = identifier;
  const promote = useMutation(ProfileService.method.promoteIdentifier, {
    onSuccess: async () => {
      await reread();
      toast(`The ${type} is primary now.`);
    },
  });
  const entries: MenuEntry[] = [
    ...(isPrimary ? [] : [{ id: "promote", title: "Make primary", detail: `among ${type}` }]),
    { id: "remove", title: "Remove …", isDangerous: true },
  ];
  return (
    <li>
      <div className="identifier">
        <span className="muted">{type}</span>
        <span className="identifier-value">
          {isRevealed ? <Copy text={value} label="Copy the value" /> : <bdi>{value}</bdi>}
          {isPrimary && <Badge tone="accent">Primary</Badge>}
          {identifier.verifiedAt && <Badge tone="good">Verified</Badge>}
        </span>
        {mayWrite && (
          <Menu
            label={`Change ${type} ${value}`}
            trigger="…"
            className="icon-button"
            items={entries}
            onAction={(entry) => {
              if (entry === "promote") promote.mutate({ propertyId, profileId, identifierId });
              else setRemoving(true);
            }}
          />
        )}
      </div>
      <p className="help">
        <Copy text={identifierId} short label="Copy the id" /> from {source}, added <Time at={identifier.createdAt} />
        {identifier.verifiedAt && (
          <>
            , verified <Time at={identifier.verifiedAt} />
          </>
        )}
      </p>
      <InlineError error={promote.error} />
      {isRemoving && <RemoveIdentifier identifier={identifier} onClose={() => setRemoving(false)} />}
    </li>
  );
}

function RemoveIdentifier({
  identifier: { id: identifierId, profileId, type, value },
  onClose,
}: {
  identifier: Identifier;
  onClose: () => void;
}): React.ReactNode {
  const { id: propertyId } = useProperty();
  const reread = useRereadProfiles();
  const remove = useMutation(ProfileService.method.removeIdentifier, {
    onSuccess: async () => {
      await reread();
      toast(`The ${type} is removed.`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Remove the ${type}?`}
      action={`Remove the ${type}`}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ propertyId, profileId, identifierId })}
      onClose={onClose}
    >
      <p>
        The profile is not found by <bdi>{value}</bdi> any more, and the next event with it can make another profile.
        Recorded events stay with this one.
      </p>
    </ConfirmDialog>
  );
}
