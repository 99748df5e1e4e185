/** Single events: the mesh of five processes, and with a second one of event, against the single process. */
import { Owner } from "#shared/process/lifecycle.ts";
import { startMeshContestant } from "../contestants/elsewhere.ts";
import { connections, singleEventsContestant } from "../contestants/single-events.ts";
import { compare } from "../support/rounds.ts";
import type { Suite } from "./suite.ts";

export const mesh: Suite = async (context) => {
  const { daybook, database, signal } = context;
  const owner = new Owner();
  try {
    const five = await startMeshContestant(database, owner);
    const six = await startMeshContestant(database, owner, ["event2"]);
    const contestants = [
      singleEventsContestant("five processes", five, signal),
      singleEventsContestant("five, and a second event", six, signal),
      singleEventsContestant("one process", daybook, signal),
    ];
    const samples = await compare(contestants, context);
    return { title: `Single events into the mesh, ${connections} connections`, unit: "requests", samples };
  } finally {
    await owner.close();
  }
};
