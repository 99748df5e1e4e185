/** COPY: a client's fastest way to write to PostgreSQL. It writes from the bench's own process. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { newUuid } from "#shared/values/ids.ts";
import { countRows, type BenchDatabase } from "../support/database.ts";
import type { EventBody } from "../support/events.ts";
import type { Contestant } from "../support/rounds.ts";
import { propertyId } from "./baseline.ts";

const stopTimeoutMs = 10_000;
const nothing = String.raw`\N`;

/** Each batch is one COPY and one commit, like a batch over HTTP. */
export function copyContestant(
  { url, pool }: BenchDatabase,
  table: string,
  batches: readonly EventBody[][],
  connections: number,
  signal: AbortSignal,
): Contestant {
  const command = `COPY ${table} (property_id, id, type, profile_id, identifier_type, identifier_value, properties, value,
    currency, occurred_at, received_at, dedupe_id, source, backfill) FROM STDIN`;
  const now = new Date().toISOString();
  // Lines without the id, which is new for each written row.
  const lines = batches.map((events) => events.map((event) => lineEnd(event, now)));
  let cursor = 0;

  async function copyUntil(stopMs: number): Promise<number> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    let rows = 0;
    try {
      while (performance.now() < stopMs) {
        signal.throwIfAborted();
        const batch = lines[cursor++ % lines.length] ?? [];
        const stream = client.query(copyFrom(command));
        const finished = once(stream, "finish", { signal: AbortSignal.timeout(stopTimeoutMs) });
        stream.end(batch.map((line) => `${propertyId}\t${newUuid()}${line}`).join(""));
        await finished;
        rows += batch.length;
      }
    } finally {
      await client.end();
    }
    return rows;
  }

  return {
    name: "COPY",
    async run(seconds) {
      const startMs = performance.now();
      const counts = await Promise.all(Array.from({ length: connections }, () => copyUntil(startMs + seconds * 1000)));
      const elapsedS = (performance.now() - startMs) / 1000;
      return { items: counts.reduce((sum, count) => sum + count, 0), elapsedS };
    },
    cpuSeconds() {
      const { user, system } = process.cpuUsage();
      return Promise.resolve((user + system) / 1_000_000);
    },
    countRows: () => countRows(pool, table),
  };
}

/** Needs no escaping, because events of the bench have no special characters. */
function lineEnd({ type, identifier, properties, value, currency }: EventBody, now: string): string {
  // Like events of known people: a profile and no identifier.
  const whose = [createHash("md5").update(identifier.value).digest("hex"), nothing, nothing];
  const fields = [type, ...whose, JSON.stringify(properties), value, currency, now, now, nothing, "api", "f"];
  return `\t${fields.join("\t")}\n`;
}
