/** The thousandth page of a list of a million profiles, against the first. */
import type { BenchDatabase } from "../support/database.ts";
import { load, toRequest } from "../support/load.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import type { Suite, SuiteContext } from "./suite.ts";

const profiles = 1_000_000;
const pageNumber = 1_000;
const connections = 8;
const rowsPerStatement = 50_000;

/** Pages of 50, newest first. With keyset paging both should cost the same. */
export const list: Suite = async (context) => {
  const { daybook, database, signal } = context;
  const { key } = daybook.other;
  await makeProfiles(database, daybook.other.propertyId, signal);
  const cursor = await findCursor(context, key);
  const contestant = (name: string, path: string): Contestant => ({
    name,
    async run(seconds) {
      const requests = [toRequest("GET", path, key, "")];
      const result = await load({ address: daybook.address, requests, connections, seconds, signal });
      return { ...result, items: result.requests };
    },
    cpuSeconds: daybook.cpuSeconds,
  });
  const samples = await compare(
    [contestant(`page ${pageNumber}`, `/v1/profiles?page[after]=${cursor}`), contestant("page 1", "/v1/profiles")],
    context,
  );
  return {
    title: `List of ${profiles.toLocaleString("en")} profiles, ${connections} connections`,
    unit: "pages",
    samples,
  };
};

/** Writes profiles with an email directly into the tables, because HTTP would take half an hour. */
async function makeProfiles({ pool }: BenchDatabase, propertyId: string, signal: AbortSignal): Promise<void> {
  for (let from = 0; from < profiles; from += rowsPerStatement) {
    signal.throwIfAborted();
    // Ids sort by creation like the service's: the first 48 bits are milliseconds.
    await pool.query(
      `WITH made AS (
         SELECT n, now() - interval '100 days' + n * interval '5 seconds' AS at FROM generate_series($2::int, $3::int) AS n
       ), ids AS (
         SELECT n, at, (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5('p' || n), 1, 3)
                        || '8' || substr(md5('q' || n), 1, 15))::uuid AS id FROM made
       ), written AS (
         INSERT INTO profile.profiles (property_id, id, attributes, created_at, updated_at)
         SELECT $1, id, json_build_object('plan', 'pro', 'visits', n), at, at FROM ids
       )
       INSERT INTO profile.identifiers (property_id, type, value, id, profile_id, source, created_at, updated_at)
       SELECT $1, 'email', 'listed' || n || '@example.com', id, id, 'api', at, at FROM ids`,
      [propertyId, from + 1, from + rowsPerStatement],
    );
  }
  await pool.query("VACUUM (ANALYZE) profile.profiles, profile.identifiers");
}

/** Reads all pages before it. */
async function findCursor({ daybook, signal }: SuiteContext, key: string): Promise<string> {
  let cursor = "";
  for (let page = 1; page < pageNumber; page++) {
    const query = cursor === "" ? "" : `?page[after]=${cursor}`;
    const response = await fetch(`${daybook.address}/v1/profiles${query}`, {
      headers: { authorization: `Bearer ${key}` },
      signal,
    });
    const { meta } = (await response.json()) as { meta: { page: { next_cursor: string } } };
    cursor = meta.page.next_cursor;
  }
  return cursor;
}
