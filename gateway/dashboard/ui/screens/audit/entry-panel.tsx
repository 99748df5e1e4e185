/** One audit entry. */
import type { AuditEntry } from "#proto/daybook/identity/v1/members_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { Badge, KeyValues } from "../../components/page.tsx";
import { SidePanel } from "../../components/side-panel.tsx";
import { Time } from "../../components/values.tsx";
import { placeOf } from "../../data/roles.ts";
import { useViewer } from "../../data/viewer.ts";
import { actionInWords } from "./actions.ts";
import { Targets } from "./targets.tsx";

export function Outcome({ entry }: { entry: AuditEntry }): React.ReactNode {
  return entry.succeeded ? <Badge tone="good">Done</Badge> : <Badge tone="bad">Not done</Badge>;
}

/** Who did it: a member, a program over the API, or an operator. */
export function who({ memberEmail, actorId }: AuditEntry): string {
  if (actorId !== undefined) return actorId.startsWith("key_") ? "A key" : "An app";
  return memberEmail ?? "The command line";
}

export function EntryPanel({ entry, onClose }: { entry: AuditEntry; onClose: () => void }): React.ReactNode {
  const { properties } = useViewer();
  const { propertyId } = entry;
  return (
    <SidePanel title={actionInWords(entry.action)} onClose={onClose}>
      <KeyValues
        rows={{
          Outcome: <Outcome entry={entry} />,
          When: <Time at={entry.at} absolute />,
          Who: who(entry),
          Member: entry.memberId !== undefined && <Copy text={entry.memberId} />,
          "Key or installation": entry.actorId !== undefined && <Copy text={entry.actorId} />,
          Property: propertyId === undefined ? "None" : placeOf({ propertyId }, properties),
          Method: <code>{entry.action}</code>,
          "Done to": entry.targetIds.length > 0 && <Targets entry={entry} isWhole />,
          From: entry.address !== "" && <code>{entry.address}</code>,
          Request: entry.requestId !== "" && <Copy text={entry.requestId} />,
          Id: <Copy text={entry.id} />,
        }}
      />
      <p className="muted">An entry holds ids and never a value. It never changes, and is deleted after two years.</p>
    </SidePanel>
  );
}
