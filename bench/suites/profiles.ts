/** Single profiles from many concurrent clients: reads by id, and upserts. */
import { resolve } from "node:path";
import { newUuid } from "#shared/values/ids.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { propertyId, type BaselineEnv } from "../contestants/baseline.ts";
import { createProfileTable } from "../support/database.ts";
import { load, toRequest } from "../support/load.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import { startServer } from "../support/server-process.ts";
import type { Suite, SuiteContext } from "./suite.ts";

const connections = 64;
const people = 2_000;
const bareServer = resolve(import.meta.dirname, "../contestants/profiles.process.ts");

const emailOf = (index: number): string => `member${index}@example.com`;

/** An upsert of a person. Each turn writes new values, so that it always changes something. */
const upsertBody = (index: number, turn: number): string =>
  JSON.stringify({
    identifiers: [{ type: "email", value: emailOf(index) }],
    attributes: { plan: "pro", visits: index + turn * people, name: `Member ${index}`, interests: ["tea", "books"] },
  });

/** GET by id, against a handler with one prepared SELECT. */
export const profileReads: Suite = (context) =>
  compareWithBare(context, "prepared SELECT", "Profiles read by id", (key, ids) =>
    ids.map((id) => toRequest("GET", `/v1/profiles/${id}`, key, "")),
  );

/** Upserts by email, against a handler with one INSERT … ON CONFLICT. */
export const profileUpserts: Suite = (context) =>
  compareWithBare(context, "INSERT … ON CONFLICT", "Profiles upserted", (key) =>
    Array.from({ length: 2 * people }, (_, at) =>
      toRequest("POST", "/v1/profiles/upsert", key, upsertBody(at % people, Math.floor(at / people))),
    ),
  );

async function compareWithBare(
  context: SuiteContext,
  bareName: string,
  title: string,
  requestsOf: (key: string, ids: readonly string[]) => Buffer[],
) {
  const { daybook, database, signal } = context;
  const ids = await makeDaybookProfiles(context);
  const table = await createProfileTable(database.pool, "bare_profiles");
  const bareIds = Array.from({ length: people }, newUuid);
  await database.pool.query(
    `INSERT INTO ${table} (property_id, id, email, attributes, created_at, updated_at)
     SELECT $1, w.id, w.email, w.attributes, now(), now()
     FROM unnest($2::uuid[], $3::text[], $4::json[]) AS w (id, email, attributes)
     ON CONFLICT DO NOTHING`,
    [
      propertyId,
      bareIds,
      bareIds.map((_, index) => emailOf(index)),
      bareIds
        .map((_, index) => (JSON.parse(upsertBody(index, 0)) as { attributes: object }).attributes)
        .map((attributes) => JSON.stringify(attributes)),
    ],
  );
  const owner = new Owner();
  try {
    const env: BaselineEnv = { DATABASE_URL: database.url, BENCH_TABLE: table };
    const bare = owner.own(await startServer(bareServer, env, signal));
    const contestant = (
      name: string,
      address: string,
      requests: Buffer[],
      more: Pick<Contestant, "cpuSeconds" | "settle">,
    ): Contestant => ({
      name,
      async run(seconds) {
        const result = await load({ address, requests, connections, seconds, signal });
        return { ...result, items: result.requests };
      },
      ...more,
    });
    const samples = await compare(
      [
        contestant("Daybook", daybook.address, requestsOf(daybook.key, ids), {
          cpuSeconds: daybook.cpuSeconds,
          settle: daybook.settle,
        }),
        contestant(bareName, bare.address, requestsOf(daybook.key, bareIds), { cpuSeconds: bare.cpuSeconds }),
      ],
      context,
    );
    await database.pool.query(`DROP TABLE ${table}`);
    return { title: `${title}, ${connections} connections`, unit: "requests", samples };
  } finally {
    await owner.close();
  }
}

/** @returns the ids of the profiles, in order. */
async function makeDaybookProfiles({ daybook: { address, key }, signal }: SuiteContext): Promise<string[]> {
  const itemsMax = 100;
  const ids: string[] = [];
  for (let from = 0; from < people; from += itemsMax) {
    const items = Array.from({ length: itemsMax }, (_, at) => upsertBody(from + at, 0));
    const response = await fetch(`${address}/v1/profiles/batch`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: `{"profiles":[${items.join(",")}]}`,
      signal,
    });
    const { data } = (await response.json()) as { data: { results: { data: { id: string } | null }[] } };
    ids.push(...data.results.map((result) => result.data?.id ?? ""));
  }
  if (ids.includes("")) throw new Error("profiles cannot be made");
  return ids;
}
