/** Writes like Daybook and does nothing else: while one INSERT is under way, rows gather for the next. */
import { propertyId, serveBaseline, type BaselineRow } from "./baseline.ts";

const connectionsMax = 1;

interface Waiting {
  row: BaselineRow;
  resolve: () => void;
  reject: (error: unknown) => void;
}

await serveBaseline(connectionsMax, (pool, table) => {
  const text = `
    INSERT INTO ${table} (property_id, id, type, identifier_type, identifier_value, properties, value, currency,
                          occurred_at, received_at, source, backfill)
    SELECT $1, e.id, e.type, e.identifier_type, e.identifier_value, e.properties, e.value, e.currency,
           e.received_at, e.received_at, 'api', false
    FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::json[], $7::numeric[], $8::text[],
                $9::timestamptz[])
      AS e (id, type, identifier_type, identifier_value, properties, value, currency, received_at)`;
  // Bounded by the connections of the load: each has one request at a time.
  let gathering: Waiting[] = [];
  let isWriting = false;

  async function write(): Promise<void> {
    isWriting = true;
    while (gathering.length > 0) {
      const batch = gathering;
      gathering = [];
      const column = (read: (row: BaselineRow) => unknown): unknown[] => batch.map(({ row }) => read(row));
      const values = [
        propertyId,
        column(({ id }) => id),
        column(({ type }) => type),
        column(({ identifier }) => identifier.type),
        column(({ identifier }) => identifier.value),
        column(({ properties }) => JSON.stringify(properties)),
        column(({ value }) => value),
        column(({ currency }) => currency),
        column(({ receivedAt }) => receivedAt),
      ];
      try {
        await pool.query({ name: "insert", text, values });
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWriting = false;
  }

  return (row) =>
    new Promise((resolve, reject) => {
      gathering.push({ row, resolve, reject });
      if (!isWriting) void write();
    });
});
