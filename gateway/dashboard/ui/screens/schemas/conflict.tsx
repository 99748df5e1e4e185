/** Which types a path has in the latest events or profiles, with one of each to look at. */
import { useQuery } from "@connectrpc/connect-query";
import { useMemo } from "react";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { ProfileService, ProfileSort } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Copy } from "../../components/copy.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { ErrorState } from "../../components/states.tsx";
import { formatCount } from "../../data/numbers.ts";
import { useProperty } from "../../data/viewer.ts";
import { type Schema, type TypeName, typeNames, typesAt } from "./schema.ts";

const looked = 200;

export function Conflict({ schema, path }: { schema: Schema; path: string }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const { eventType } = schema;
  const isOfEvents = eventType !== undefined;
  const events = useQuery(
    EventService.method.listEvents,
    { propertyId, limit: looked, ...(isOfEvents && { type: eventType }) },
    { enabled: isOfEvents },
  );
  const profiles = useQuery(
    ProfileService.method.listProfiles,
    { propertyId, limit: looked, sort: ProfileSort.UPDATED_AT },
    { enabled: !isOfEvents },
  );
  const { isError, error, refetch } = isOfEvents ? events : profiles;
  const items = useMemo(
    () =>
      isOfEvents
        ? events.data?.events.map(({ id, propertiesJson }) => ({ id, json: propertiesJson }))
        : profiles.data?.profiles.map(({ id, attributesJson }) => ({ id, json: attributesJson })),
    [isOfEvents, events.data, profiles.data],
  );
  // Each item can have 256 KB of JSON, so it is parsed when it comes and not at each render.
  const seen = useMemo(() => items && countTypes(items, path), [items, path]);
  if (isError) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!items || !seen) return <Skeleton lines={2} />;
  return (
    <div className="schema-types">
      <p className="muted">
        {seen.length === 0
          ? `None of the latest ${formatCount(items.length)} ${isOfEvents ? "events" : "profiles"} has it.`
          : `In the latest ${formatCount(items.length)} ${isOfEvents ? "events" : "profiles"}:`}
      </p>
      {seen.length > 0 && (
        <ul>
          {seen.map(({ type, count, example }) => (
            <li key={type}>
              <strong>{type}</strong> in {formatCount(count)}, such as <Copy text={example} short />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** @param items the newest first, so that each example is the newest. */
function countTypes(
  items: readonly { id: string; json: string }[],
  path: string,
): readonly { type: TypeName; count: number; example: string }[] {
  const seen = new Map<TypeName, { count: number; example: string }>();
  for (const { id, json } of items) {
    for (const type of typesAt(JSON.parse(json) as object, path)) {
      const known = seen.get(type);
      if (known) known.count++;
      else seen.set(type, { count: 1, example: id });
    }
  }
  return typeNames.flatMap((type) => {
    const found = seen.get(type);
    return found ? [{ type, ...found }] : [];
  });
}
