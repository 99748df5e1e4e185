/** Connections to PostgreSQL of the processes of one `npm start`. */
import type { Connections } from "#shared/database/reads.ts";

/** Of a process that is alone. */
const alone = {
  identity: { writes: 2, reads: 1 },
  profile: { writes: 8, reads: 4 },
  event: { writes: 9, reads: 6 },
  metric: { writes: 4, reads: 4 },
  webhook: { writes: 4, reads: 2 },
} as const;

type ServiceName = keyof typeof alone;

/** A relay and what it delivers hold one each, and requests need another. */
const least: Record<ServiceName, Connections> = {
  identity: { writes: 2, reads: 1 },
  profile: { writes: 4, reads: 2 },
  event: { writes: 5, reads: 3 },
  metric: { writes: 3, reads: 2 },
  webhook: { writes: 3, reads: 1 },
};

/** What a process opens besides, to hear signals. */
const others = 1;

/** The connections of each service in a process that shares the work with others. */
export function connectionsOf(workers: number): Record<ServiceName, Connections> {
  const share = (name: ServiceName, kind: keyof Connections): number =>
    Math.max(least[name][kind], Math.ceil(alone[name][kind] / workers));
  const names = Object.keys(alone) as ServiceName[];
  return Object.fromEntries(
    names.map((name) => [name, { writes: share(name, "writes"), reads: share(name, "reads") }]),
  ) as Record<ServiceName, Connections>;
}

/** The most that all workers together open: 45 alone, so that the two of a restart fit into PostgreSQL's 100. */
export function connectionsMaxOf(workers: number): number {
  const own = Object.values(connectionsOf(workers)).reduce((sum, { writes, reads }) => sum + writes + reads, others);
  return workers * own;
}

// For tools, and those that PostgreSQL reserves.
const spare = 20;
const serverDefault = 100;

/** max_connections of a server that only these workers use. */
export function serverConnections(workers: number): string {
  return String(Math.max(serverDefault, connectionsMaxOf(workers) + spare));
}
