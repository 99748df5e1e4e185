/** Recording with five million events there already, against a table that is empty at first. */
import { Owner } from "#shared/lifecycle.ts";
import { startDaybook, type Daybook } from "../contestants/daybook.ts";
import { createDatabase } from "../support/database.ts";
import { emailsMax, makeEvents } from "../support/events.ts";
import { makeHistory } from "../support/history.ts";
import { load, toRequest } from "../support/load.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import type { Suite } from "./suite.ts";

const connections = 64;

export const full: Suite = async (context) => {
  const { daybook, database, signal } = context;
  const { events } = await makeHistory(context);
  const owner = new Owner();
  try {
    const empty = owner.own(await startDaybook(await createDatabase(database, "empty", owner), signal));
    const contestant = (name: string, who: Daybook): Contestant => {
      const requests = makeEvents(emailsMax).map((event) =>
        toRequest("POST", "/v1/events", who.key, JSON.stringify(event)),
      );
      return {
        name,
        async run(seconds) {
          const result = await load({ address: who.address, requests, connections, seconds, signal });
          return { ...result, items: result.requests };
        },
        cpuSeconds: who.cpuSeconds,
        settle: who.settle,
        countRows: who.countEvents,
      };
    };
    const samples = await compare([contestant("full", daybook), contestant("empty", empty)], context);
    return { title: `Single events beside ${events.toLocaleString("en")} others`, unit: "requests", samples };
  } finally {
    await owner.close();
  }
};
