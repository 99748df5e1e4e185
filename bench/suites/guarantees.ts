/** The cost of Idempotency-Key and rate limits for single events, against none and against a bare handler. */
import { resolve } from "node:path";
import { Owner } from "#shared/process/lifecycle.ts";
import type { BaselineEnv } from "../contestants/baseline.ts";
import { connections, singleEventsContestant } from "../contestants/single-events.ts";
import { countRows, createEventTable } from "../support/database.ts";
import { compare } from "../support/rounds.ts";
import { startServer } from "../support/server-process.ts";
import type { Suite } from "./suite.ts";

// Never reached, but shares of it are leased all the time.
const limitPerMinute = 1_000_000;
const table = "bare_events";
const keyed = "with Idempotency-Key";
const plain = "without it";
const unlimited = "limits practically off";
const bare = "bare handler";

export const guarantees: Suite = async (context) => {
  const { daybook, database, signal } = context;
  const owner = new Owner();
  try {
    const fullName = await createEventTable(database.pool, table);
    const env: BaselineEnv = { DATABASE_URL: database.url, BENCH_TABLE: fullName };
    const file = resolve(import.meta.dirname, "../contestants/naive.process.ts");
    const server = owner.own(await startServer(file, env, signal));
    const limited = { ...daybook, key: await daybook.newKey(limitPerMinute) };
    const handler = {
      ...server,
      key: "none",
      countEvents: () => countRows(database.pool, fullName),
      settle: () => Promise.resolve(),
    };
    const contestants = [
      singleEventsContestant(keyed, limited, signal, true),
      singleEventsContestant(plain, limited, signal),
      singleEventsContestant(unlimited, daybook, signal),
      singleEventsContestant(bare, handler, signal),
    ];
    const samples = await compare(contestants, context);
    return {
      title: `Guarantees of single events, ${connections} connections`,
      unit: "requests",
      samples,
      pairs: [
        [keyed, plain],
        [plain, unlimited],
        [keyed, bare],
        [plain, bare],
      ],
    };
  } finally {
    await owner.close();
  }
};
