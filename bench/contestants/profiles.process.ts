/** Serves profiles with one prepared statement per request and no checks. */
import { fastify } from "fastify";
import pg from "pg";
import { newUuid } from "#shared/values/ids.ts";
import { propertyId, type BaselineEnv } from "./baseline.ts";

interface UpsertBody {
  identifiers: { type: string; value: string }[];
  attributes: object;
}

// More gain nothing at 64 connections.
const connectionsMax = 12;
const { DATABASE_URL, BENCH_TABLE = "" } = process.env as Partial<BaselineEnv>;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: connectionsMax });
const app = fastify();

const select = `SELECT id, status, attributes, tags, location, version, created_at, updated_at
  FROM ${BENCH_TABLE} WHERE property_id = $1 AND id = $2`;
app.get<{ Params: { id: string } }>("/v1/profiles/:id", async (request) => {
  const { rows } = await pool.query({ name: "read", text: select, values: [propertyId, request.params.id] });
  return { data: rows[0] as unknown };
});

const upsert = `INSERT INTO ${BENCH_TABLE} (property_id, id, email, attributes, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $5)
  ON CONFLICT (property_id, email)
  DO UPDATE SET attributes = excluded.attributes, updated_at = excluded.updated_at, version = ${BENCH_TABLE}.version + 1
  RETURNING id, status, attributes, tags, location, version, created_at, updated_at`;
app.post<{ Body: UpsertBody }>("/v1/profiles/upsert", async (request) => {
  const { identifiers, attributes } = request.body;
  const values = [propertyId, newUuid(), identifiers[0]?.value, attributes, new Date().toISOString()];
  const { rows } = await pool.query({ name: "upsert", text: upsert, values });
  return { data: rows[0] as unknown };
});

const address = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`ready at ${address}\n`);
