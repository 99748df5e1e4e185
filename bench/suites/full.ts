/** Recording into a table with millions of events, against a table that starts empty. */
import { Owner } from "#shared/process/lifecycle.ts";
import { startDaybook } from "../contestants/daybook.ts";
import { singleEventsContestant } from "../contestants/single-events.ts";
import { createDatabase } from "../support/database.ts";
import { makeHistory } from "../support/history.ts";
import { compare } from "../support/rounds.ts";
import type { Suite } from "./suite.ts";

export const full: Suite = async (context) => {
  const { daybook, database, signal } = context;
  const { events } = await makeHistory(context);
  const owner = new Owner();
  try {
    const empty = owner.own(await startDaybook(await createDatabase(database, "empty", owner), signal));
    const contestants = [
      singleEventsContestant("full", daybook, signal),
      singleEventsContestant("empty", empty, signal),
    ];
    const samples = await compare(contestants, context);
    return { title: `Single events beside ${events.toLocaleString("en")} others`, unit: "requests", samples };
  } finally {
    await owner.close();
  }
};
