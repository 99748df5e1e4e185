/** The paths of one schema, and for a conflict which of the latest events or profiles have which type. */
import { Link } from "@tanstack/react-router";
import { Badge, KeyValues } from "../../components/page.tsx";
import { SidePanel } from "../../components/side-panel.tsx";
import { Time } from "../../components/values.tsx";
import { useMay, useProperty } from "../../data/viewer.ts";
import { Conflict } from "./conflict.tsx";
import { isConflict, type ObservedPath, type Schema } from "./schema.ts";

export function SchemaPanel({
  schema,
  find,
  path,
  onPath,
  onClose,
}: {
  schema: Schema;
  find: string;
  /** The conflict that is unfolded. */
  path: string | undefined;
  onPath: (path: string | undefined) => void;
  onClose: () => void;
}): React.ReactNode {
  const { id: property } = useProperty();
  const { id, eventType, since, last, paths } = schema;
  const wanted = find.trim().toLowerCase();
  const found = paths.filter((one) => one.path.toLowerCase().includes(wanted));
  // What was searched for may be the event type.
  const shown = found.length > 0 ? found : paths;
  return (
    <SidePanel title={eventType ?? "Attributes of profiles"} onClose={onClose}>
      {eventType !== undefined && (
        <KeyValues
          rows={{
            Since: since ? <Time at={since} focusable /> : "No event yet",
            "Last event": last && <Time at={last} focusable />,
            Metric: (
              <Link to="/$property/metrics/$metric" params={{ property, metric: id }}>
                Counts and sums
              </Link>
            ),
          }}
        />
      )}
      {paths.length === 0 ? (
        <p className="muted">No path was seen yet.</p>
      ) : (
        <ul className="schema-paths" aria-label="Paths">
          {shown.map((one) => (
            <Path key={one.path} schema={schema} path={one} isOpen={one.path === path} onPath={onPath} />
          ))}
        </ul>
      )}
      {shown.length < paths.length && (
        <p className="muted">
          {shown.length} of {paths.length} paths are like the search.
        </p>
      )}
      {paths.some(isConflict) && (
        <p className="muted">
          A conflict is a path that was seen with two types or more. It stays one, also when later values agree.
        </p>
      )}
    </SidePanel>
  );
}

function Path({
  schema,
  path,
  isOpen,
  onPath,
}: {
  schema: Schema;
  path: ObservedPath;
  isOpen: boolean;
  onPath: (path: string | undefined) => void;
}): React.ReactNode {
  const mayInspect = useMay(schema.eventType === undefined ? "profiles:read" : "events:read");
  if (!isConflict(path)) {
    return (
      <li>
        <code>{path.path}</code>
        <span className="muted">{path.type}</span>
      </li>
    );
  }
  return (
    <li>
      <code>{path.path}</code>
      <Badge tone="warning">conflict</Badge>
      {mayInspect && (
        <button
          type="button"
          className="button small"
          aria-expanded={isOpen}
          aria-label={`Types of ${path.path}`}
          onClick={() => onPath(isOpen ? undefined : path.path)}
        >
          Types
        </button>
      )}
      {isOpen && mayInspect && <Conflict schema={schema} path={path.path} />}
    </li>
  );
}
