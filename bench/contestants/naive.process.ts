/** The simplest server: a prepared INSERT per request. */
import { propertyId, serveBaseline } from "./baseline.ts";

// More gain nothing at 64 connections.
const connectionsMax = 12;

await serveBaseline(connectionsMax, (pool, table) => {
  const text = `
    INSERT INTO ${table} (property_id, id, type, identifier_type, identifier_value, properties, value, currency,
                          occurred_at, received_at, source, backfill)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, 'api', false)`;
  return async ({ id, type, identifier, properties, value, currency, receivedAt }) => {
    const values = [propertyId, id, type, identifier.type, identifier.value, properties, value, currency, receivedAt];
    await pool.query({ name: "insert", text, values });
  };
});
