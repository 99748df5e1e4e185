import { inChunksByProperty } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros } from "#shared/values/time.ts";
import { operations } from "./sql/operations.ts";
import { findEndedStreams, forgetHeld } from "./sql/privacy-work.ts";

/** How often expired rows are deleted. */
export const forgetIntervalMs = 10 * 60 * 1000;

const streamRowsMax = 500;

/** Deletes operations that have expired, and identifiers of requests for access whose stream has ended. */
export async function forgetExpired({ database, clock }: ServiceContext, signal: AbortSignal): Promise<void> {
  const now = formatMicros(clock.nowMicros());
  await operations.deleteExpired(database, now, signal);
  await inChunksByProperty(
    streamRowsMax,
    (rows) => findEndedStreams(database, [now, rows]),
    (property, ended) => forgetHeld(database, [property, ended.map(({ id }) => id), now]),
    signal,
  );
}
