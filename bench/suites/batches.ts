/** Batches of events: over HTTP to Daybook, and by COPY into a table of the same shape. */
import { copyContestant } from "../contestants/copy.ts";
import { createEventTable } from "../support/database.ts";
import { makeEvents } from "../support/events.ts";
import { load, toRequest } from "../support/load.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import type { Suite, SuiteContext } from "./suite.ts";

const connections = 2;
const batchItems = 1000;
const batchesMax = 20;

/** Daybook and COPY write the same rows in the same batches. */
export const batches: Suite = async (context) => {
  const { daybook, database, signal } = context;
  const events = makeEvents(batchItems * batchesMax);
  const groups = Array.from({ length: batchesMax }, (_, batch) =>
    events.slice(batch * batchItems, (batch + 1) * batchItems),
  );
  const requests = groups.map((group) =>
    toRequest("POST", "/v1/events/batch", daybook.key, JSON.stringify({ events: group })),
  );
  const contestant: Contestant = {
    name: "Daybook",
    async run(seconds) {
      const result = await load({ address: daybook.address, requests, connections, seconds, signal });
      return { ...result, items: result.requests * batchItems };
    },
    cpuSeconds: daybook.cpuSeconds,
    settle: daybook.settle,
    countRows: daybook.countEvents,
  };
  const table = await createEventTable(database.pool, "copy_events");
  const copy = copyContestant(database, table, groups, connections, signal);
  const samples = await compare([contestant, copy], context);
  const jsonBytes = events.reduce((sum, event) => sum + JSON.stringify(event).length, 0) / events.length;
  const notes = [await describeSize(database, jsonBytes)];
  return { title: `Batches of ${batchItems}, ${connections} connections`, unit: "rows", samples, notes };
};

/** Disk space of an event, compared with its JSON. */
async function describeSize({ pool }: SuiteContext["database"], jsonBytes: number): Promise<string> {
  const { rows } = await pool.query<{ events: string; tables: string; indexes: string }>(
    `SELECT (SELECT count(*) FROM event.events) AS events, sum(pg_table_size(relid)) AS tables, sum(pg_indexes_size(relid)) AS indexes
     FROM pg_partition_tree('event.events')`,
  );
  const [size] = rows;
  const perEvent = (bytes: string | undefined): number => Number(bytes) / Number(size?.events);
  const [table, indexes] = [perEvent(size?.tables), perEvent(size?.indexes)];
  return (
    `On disk an event takes ${Math.round(table)} bytes in the table and ${Math.round(indexes)} in the indexes; ` +
    `its JSON has ${Math.round(jsonBytes)}: ${((table + indexes) / jsonBytes).toFixed(1)} times as many.`
  );
}
