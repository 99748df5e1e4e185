/** Events in batches, over HTTP to Daybook and by COPY into a table of the same shape. */
import { copyContestant } from "../contestants/copy.ts";
import { createEventTable } from "../support/database.ts";
import { makeEvents } from "../support/events.ts";
import { load, toRequest } from "../support/load.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import type { Suite } from "./suite.ts";

const connections = 2;
const batchItems = 1000;
const batchesMax = 20;

/** Daybook and COPY, with the same rows in the same batches. */
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
  return { title: `Batches of ${batchItems}, ${connections} connections`, unit: "rows", samples };
};
