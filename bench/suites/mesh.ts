/** Events one by one: the mesh of five processes against the single one. */
import { Owner } from "#shared/lifecycle.ts";
import { startMeshContestant } from "../contestants/mesh.ts";
import { emailsMax, makeEvents } from "../support/events.ts";
import { load, toRequest } from "../support/load.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import type { Suite } from "./suite.ts";

const connections = 64;

export const mesh: Suite = async (context) => {
  const { daybook, database, signal } = context;
  const owner = new Owner();
  try {
    const five = await startMeshContestant(database, owner);
    const contestant = (name: string, who: typeof five): Contestant => {
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
    const samples = await compare([contestant("five processes", five), contestant("one process", daybook)], context);
    return { title: `Single events into the mesh, ${connections} connections`, unit: "requests", samples };
  } finally {
    await owner.close();
  }
};
