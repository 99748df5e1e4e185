/** One event, as it is on record. */
import { useQuery } from "@connectrpc/connect-query";
import { lazy, Suspense } from "react";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { SidePanel } from "../../components/side-panel.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { EmptyState, ErrorState } from "../../components/states.tsx";
import { useProperty } from "../../data/viewer.ts";

const EventFacts = lazy(() => import("./event-facts.tsx"));

/** Reads the event by its id, because a link can lead to one that is not in the list. */
export function EventPanel({ id, onClose }: { id: string; onClose: () => void }): React.ReactNode {
  const { id: propertyId } = useProperty();
  const found = useQuery(EventService.method.getEvents, { propertyId, eventIds: [id] }, { staleTime: 60_000 });
  const event = found.data?.events[0];
  return (
    <SidePanel title={event?.type ?? "Event"} onClose={onClose}>
      {found.isError && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Skeleton lines={10} />}
      {found.data && !event && (
        <EmptyState title="There is no such event" level={3}>
          <p>
            This property has no event <code>{id}</code>. It may have been removed with its profile, or be in another
            property.
          </p>
        </EmptyState>
      )}
      {event && (
        <Suspense fallback={<Skeleton lines={10} />}>
          <EventFacts event={event} />
        </Suspense>
      )}
    </SidePanel>
  );
}
