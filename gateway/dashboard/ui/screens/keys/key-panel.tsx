/** One key: what it may do, and how it ends. */
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { IdentityService, type Key } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { ConfirmDialog, Dialog, SecretDialog } from "../../components/dialog.tsx";
import { InlineError, Select } from "../../components/field.tsx";
import { Badge, KeyValues } from "../../components/page.tsx";
import { SidePanel } from "../../components/side-panel.tsx";
import { toast } from "../../components/toasts.tsx";
import { Count, Time, useNow } from "../../components/values.tsx";
import { SubmitButton } from "../../components/submit-button.tsx";
import { useMay } from "../../data/viewer.ts";
import { stateOf } from "./key-state.ts";
import { useRereadKeys } from "./reread.ts";

export function KeyPanel({ keyOf: key, onClose }: { keyOf: Key; onClose: () => void }): React.ReactNode {
  const [asked, setAsked] = useState<"rotate" | "revoke">();
  const { word, tone, opens } = stateOf(key, useNow());
  const mayManage = useMay("keys:manage");
  const done = (): void => setAsked(undefined);
  const limits = key.rateLimits;
  return (
    <SidePanel title={key.name} onClose={onClose}>
      <KeyValues
        rows={{
          State: <Badge tone={tone}>{word}</Badge>,
          Id: <Copy text={key.id} />,
          "Begins with": <code>{key.displayPrefix}…</code>,
          Created: <Time at={key.createdAt} focusable />,
          "Last used": key.lastUsedAt ? <Time at={key.lastUsedAt} focusable /> : "Never",
          Expires: key.expiresAt ? <Time at={key.expiresAt} focusable /> : "Never",
          Revoked: key.revokedAt && <Time at={key.revokedAt} focusable />,
          "API revision": <code>{key.revision}</code>,
          "Requests a minute": limits?.ordinary && <Count value={limits.ordinary} />,
          "Backfill a minute": limits?.backfill && <Count value={limits.backfill} />,
        }}
      />
      <h3>Scopes</h3>
      <ul className="scope-list">
        {key.scopes.map((scope) => (
          <li key={scope}>
            <code>{scope}</code>
          </li>
        ))}
      </ul>
      {opens && mayManage && (
        <div className="actions">
          <button type="button" className="button" onClick={() => setAsked("rotate")}>
            Rotate
          </button>
          <button type="button" className="button dangerous" onClick={() => setAsked("revoke")}>
            Revoke
          </button>
        </div>
      )}
      {asked === "rotate" && <Rotate keyOf={key} onClose={done} />}
      {asked === "revoke" && <Revoke keyOf={key} onClose={done} />}
    </SidePanel>
  );
}

const overlaps = [
  { value: "0", title: "None: the old key ends now" },
  { value: "3600", title: "An hour" },
  { value: "86400", title: "A day" },
  { value: "604800", title: "A week" },
  { value: "2592000", title: "30 days" },
] as const;

function Rotate({ keyOf: key, onClose }: { keyOf: Key; onClose: () => void }): React.ReactNode {
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]["value"]>("86400");
  const rotate = useMutation(IdentityService.method.rotateKey, { onSuccess: useRereadKeys(), gcTime: 0 });
  if (rotate.data) {
    return (
      <SecretDialog title={`New key "${key.name}"`} secret={rotate.data.secret} onClose={onClose}>
        <p>
          The old key ends: <Time at={rotate.data.replaced?.expiresAt} absolute />
        </p>
      </SecretDialog>
    );
  }
  return (
    <Dialog title={`Rotate "${key.name}"`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          rotate.mutate({ propertyId: key.propertyId, keyId: key.id, overlapSeconds: Number(overlap) });
        }}
      >
        <p>
          A new key that may do the same is made. The old one goes on beside it until it ends, so that you can replace
          it.
        </p>
        <Select label="Both work for" value={overlap} options={overlaps} onChange={setOverlap} />
        <InlineError error={rotate.error} />
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <SubmitButton isPending={rotate.isPending}>Make the new key</SubmitButton>
        </footer>
      </form>
    </Dialog>
  );
}

function Revoke({ keyOf: key, onClose }: { keyOf: Key; onClose: () => void }): React.ReactNode {
  const reread = useRereadKeys();
  const revoke = useMutation(IdentityService.method.revokeKey, {
    onSuccess: () => {
      reread();
      toast(`Key "${key.name}" is revoked.`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Revoke "${key.name}"?`}
      action="Revoke the key"
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate({ propertyId: key.propertyId, keyId: key.id })}
      onClose={onClose}
    >
      <p>
        Every request with <code>{key.displayPrefix}…</code> is refused within 5 seconds, for good. What it recorded
        stays.
      </p>
    </ConfirmDialog>
  );
}
