/** Shared by the baseline servers: Fastify with its own JSON parser, one route, and an answer with the id. */
import { fastify } from "fastify";
import pg from "pg";
import { newUuid } from "#shared/values/ids.ts";
import type { EventBody } from "../support/events.ts";

/** The columns in which rows of the bench differ. */
export interface BaselineRow extends EventBody {
  id: string;
  receivedAt: string;
}

/** The property of all rows. */
export const propertyId = "01980000-0000-7000-8000-000000000001";

/** Environment of a baseline server. */
export interface BaselineEnv extends Record<string, string> {
  DATABASE_URL: string;
  BENCH_TABLE: string;
}

/**
 * Serves POST /v1/events.
 * @param connectionsMax to the database.
 * @param createInsert creates a function that writes one row and resolves when it is committed.
 */
export async function serveBaseline(
  connectionsMax: number,
  createInsert: (pool: pg.Pool, table: string) => (row: BaselineRow) => Promise<void>,
): Promise<void> {
  const { DATABASE_URL, BENCH_TABLE = "" } = process.env as Partial<BaselineEnv>;
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: connectionsMax });
  const insert = createInsert(pool, BENCH_TABLE);
  const app = fastify();
  app.post<{ Body: EventBody }>("/v1/events", async (request, reply) => {
    const id = newUuid();
    await insert({ ...request.body, id, receivedAt: new Date().toISOString() });
    void reply.code(201);
    return { id };
  });
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  process.stdout.write(`ready at ${address}\n`);
}
