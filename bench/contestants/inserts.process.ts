/** Runs the INSERTs of one run, where there is no pgbench. */
import { once } from "node:events";
import pg from "pg";
import { emailsMax } from "../support/events.ts";
import type { InsertsResult, InsertsTask } from "./inserts.ts";

const ordersMax = 1_000_000;
/** Of a connection under way, so that none waits for this process. */
const pipelined = 2;

const [{ url, text, clients: count, seconds }] = (await once(process, "message")) as [InsertsTask];
const clients = Array.from({ length: count }, () => new pg.Client({ connectionString: url, pipeline: true }));
await Promise.all(clients.map((client) => client.connect()));

let inserted = 0;
const latenciesMs: number[] = [];
const startMs = performance.now();
const endMs = startMs + seconds * 1000;
await Promise.all(
  clients.flatMap((client) =>
    Array.from({ length: pipelined }, async () => {
      for (let atMs = performance.now(); atMs < endMs;) {
        inserted++;
        const values = [(inserted * 7919) % emailsMax, inserted % ordersMax];
        await client.query({ name: "insert", text, values });
        const nowMs = performance.now();
        latenciesMs.push(nowMs - atMs);
        atMs = nowMs;
      }
    }),
  ),
);
const result: InsertsResult = { elapsedS: (performance.now() - startMs) / 1000, latenciesMs };
process.send?.(result);
await Promise.all(clients.map((client) => client.end()));
