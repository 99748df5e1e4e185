/** What an entry was done to: links where a screen opens it, else ids to copy. */
import { Link } from "@tanstack/react-router";
import type { AuditEntry } from "#proto/daybook/identity/v1/members_pb.ts";
import { goToId } from "../../app/ids.ts";
import { Copy } from "../../components/copy.tsx";
import { useProperty, useViewer } from "../../data/viewer.ts";

const shownMax = 2;

export function Targets({ entry, isWhole = false }: { entry: AuditEntry; isWhole?: boolean }): React.ReactNode {
  // One may be there twice.
  const all = [...new Set(entry.targetIds)];
  const ids = isWhole ? all : all.slice(0, shownMax);
  const more = all.length - ids.length;
  return (
    <ul className={isWhole ? "plain" : "targets"}>
      {ids.map((id) => (
        <li key={id}>
          <Target id={id} propertyId={entry.propertyId} isWhole={isWhole} />
        </li>
      ))}
      {more > 0 && <li className="muted">and {more} more</li>}
    </ul>
  );
}

function Target({
  id,
  propertyId,
  isWhole,
}: {
  id: string;
  propertyId: string | undefined;
  isWhole: boolean;
}): React.ReactNode {
  const { properties } = useViewer();
  const current = useProperty();
  // It stands in the property in which it was done, if the viewer may open that.
  const where = propertyId ?? current.id;
  const place = properties.some((property) => property.id === where) ? goToId(id, properties) : undefined;
  return (
    <>
      {place && (
        // Screens of ids are data: their own links elsewhere are typed.
        <Link {...(place.to(where) as { to: "/$property/overview"; params: { property: string } })}>{place.title}</Link>
      )}{" "}
      <Copy text={id} short={!isWhole} />
    </>
  );
}
