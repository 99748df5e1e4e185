/** Single events from many concurrent clients. */
import { resolve } from "node:path";
import { Owner } from "#shared/process/lifecycle.ts";
import type { BaselineEnv } from "../contestants/baseline.ts";
import { startWorkersContestant } from "../contestants/elsewhere.ts";
import { insertsContestant } from "../contestants/inserts.ts";
import { connections, singleEventsContestant } from "../contestants/single-events.ts";
import { countRows, createEventTable } from "../support/database.ts";
import { emailsMax, makeEvents } from "../support/events.ts";
import { load, toRequest } from "../support/load.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import { startServer } from "../support/server-process.ts";
import type { Suite } from "./suite.ts";

const baselines = [
  { name: "one INSERT a request", table: "naive_events", file: "naive.process.ts" },
  { name: "coalesced INSERT", table: "coalesced_events", file: "coalesced.process.ts" },
];

/** Daybook, INSERTs without a server, a handler with one INSERT per request, and one that only coalesces. */
export const singleEvents: Suite = async (context) => {
  const { daybook, database, signal } = context;
  const requests = makeEvents(emailsMax).map((event) =>
    toRequest("POST", "/v1/events", daybook.key, JSON.stringify(event)),
  );
  const runAt = (address: string) => async (seconds: number) => {
    const result = await load({ address, requests, connections, seconds, signal });
    return { ...result, items: result.requests };
  };
  const owner = new Owner();
  try {
    const inserts = await insertsContestant(database, connections, signal);
    const workers = await startWorkersContestant(database, owner, "auto");
    const contestants: Contestant[] = [
      singleEventsContestant("Daybook", daybook, signal),
      singleEventsContestant("Daybook, WORKERS=auto", workers, signal),
      inserts,
    ];
    for (const { name, table, file } of baselines) {
      const fullName = await createEventTable(database.pool, table);
      const env: BaselineEnv = { DATABASE_URL: database.url, BENCH_TABLE: fullName };
      const { address, cpuSeconds } = owner.own(
        await startServer(resolve(import.meta.dirname, "../contestants", file), env, signal),
      );
      contestants.push({
        name,
        run: runAt(address),
        cpuSeconds,
        countRows: () => countRows(database.pool, fullName),
      });
    }
    const samples = await compare(contestants, context);
    return { title: `Single events, ${connections} connections`, unit: "requests", samples };
  } finally {
    await owner.close();
  }
};
