/** The bus as the services with an outbox see it, read anew every few seconds while somebody looks. */
import { useQuery } from "@connectrpc/connect-query";
import {
  BusService,
  type Consumer,
  type DeadLetter,
  type DescribeBusResponse,
  type Outbox,
} from "#proto/daybook/common/v1/bus_pb.ts";
import { transportTo } from "../../data/transport.ts";

export const rereadMs = 5000;

const owners = {
  event: transportTo("event"),
  profile: transportTo("profile"),
  metric: transportTo("metric"),
} as const;

/** Any process knows all consumers and gives their dead letters back. */
export const busTransport = owners.event;

export interface BusView {
  outboxes: readonly Outbox[];
  consumers: readonly Consumer[];
  deadLetters: readonly DeadLetter[];
  /** Why nothing is known of consumers and dead letters. */
  away: string | undefined;
}

export interface BusReading {
  /** Undefined until one of the services has answered. */
  bus: BusView | undefined;
  /** What those that did not answer said, by service. */
  failed: readonly { owner: string; error: unknown }[];
  reread: () => void;
}

export function useBus(): BusReading {
  const event = useQuery(
    BusService.method.describeBus,
    {},
    { transport: owners.event, refetchInterval: rereadMs, staleTime: 0 },
  );
  const profile = useQuery(
    BusService.method.describeBus,
    {},
    { transport: owners.profile, refetchInterval: rereadMs, staleTime: 0 },
  );
  const metric = useQuery(
    BusService.method.describeBus,
    {},
    { transport: owners.metric, refetchInterval: rereadMs, staleTime: 0 },
  );
  const readings = [
    { owner: "event", query: event },
    { owner: "profile", query: profile },
    { owner: "metric", query: metric },
  ];
  // What a service said before it went away is not shown as if it were so now.
  const answers = readings.flatMap(({ query }) => (query.data && !query.isError ? [query.data] : []));
  return {
    bus: answers.length > 0 ? viewOf(answers) : undefined,
    failed: readings.flatMap(({ owner, query }) => (query.isError ? [{ owner, error: query.error }] : [])),
    reread: () => readings.forEach(({ query }) => void query.refetch()),
  };
}

/** Services in one process report each other's outboxes too, and every service reports the bus: each counts once. */
function viewOf(answers: readonly DescribeBusResponse[]): BusView {
  const outboxes = new Map(answers.flatMap((answer) => answer.outboxes).map((outbox) => [outbox.name, outbox]));
  const reached = answers.find(({ away }) => away === undefined) ?? answers[0];
  return {
    outboxes: [...outboxes.values()],
    consumers: reached?.consumers ?? [],
    deadLetters: reached?.deadLetters ?? [],
    away: reached?.away,
  };
}
