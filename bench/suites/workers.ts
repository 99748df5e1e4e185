/** Single events: two processes that share a port, and as many as there are cores, against one. */
import { availableParallelism } from "node:os";
import { Owner } from "#shared/process/lifecycle.ts";
import { startWorkersContestant } from "../contestants/elsewhere.ts";
import { connections, singleEventsContestant } from "../contestants/single-events.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import type { Suite } from "./suite.ts";

export const workers: Suite = async (context) => {
  const { database, signal } = context;
  const owner = new Owner();
  try {
    const contestants: Contestant[] = [];
    for (const count of new Set([2, availableParallelism(), 1])) {
      const recorder = await startWorkersContestant(database, owner, String(count));
      contestants.push(singleEventsContestant(count === 1 ? "one process" : `${count} workers`, recorder, signal));
    }
    const samples = await compare(contestants, context);
    return { title: `Single events into workers, ${connections} connections`, unit: "requests", samples };
  } finally {
    await owner.close();
  }
};
