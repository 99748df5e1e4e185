/** Changing the password of the database without a pause, by the statements of docs/operating/secrets.md. */
import { readFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { startPostgres } from "../../deploy/local/postgres.ts";
import { createApi, type Api } from "../support/api.ts";
import { allTaken, countOf } from "../support/counting.ts";
import { execute } from "../support/database.ts";
import { startSingleProcess } from "../support/daybook.ts";

const owner = new Owner();
afterAll(() => owner.close());

async function record(api: Api): Promise<void> {
  const event = { type: "password.event", identifier: { type: "email", value: "a@example.com" }, properties: {} };
  const { status, text } = await api.post("/v1/events", event);
  expect([text, status]).toEqual([text, 201]);
}

test("two roles take turns: both own all, a new password needs no pause, and the old one ends", async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-password-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const { superuserUrl } = owner.own(await startPostgres(join(folder, "postgres"), "secret"));
  const urlOf = (role: string, password: string): string => {
    const url = new URL(superuserUrl);
    Object.assign(url, { pathname: "/daybook", username: role, password });
    return url.href;
  };
  await execute(superuserUrl, "CREATE DATABASE daybook");
  const page = await readFile("docs/operating/secrets.md", "utf8");
  const statements = /```sql\n([^]*?)```/.exec(page)?.[1] ?? "";
  expect(statements).toContain("daybook_b");
  await execute(urlOf("daybook", "secret"), statements.replaceAll("'…'", "'first'"));

  const before = await startSingleProcess(owner, { databaseUrl: urlOf("daybook_a", "first") });
  const property = await before.newProperty();
  await record(property);
  await execute(superuserUrl, "ALTER ROLE daybook_b PASSWORD 'second'");
  const after = await startSingleProcess(owner, { databaseUrl: urlOf("daybook_b", "second") });
  const api = createApi(after.baseUrl, property.secret);
  // Both run for a while, as in a rolling replacement.
  await Promise.all([record(property), record(api)]);
  await execute(superuserUrl, "ALTER ROLE daybook_a PASSWORD NULL");
  await record(api);
  await allTaken(after);
  expect(await countOf(after, property.propertyId, "password.event")).toBe(4);
  await expect(new pg.Client({ connectionString: urlOf("daybook_a", "first") }).connect()).rejects.toThrow(
    /password authentication failed/,
  );
  const client = new pg.Client({ connectionString: urlOf("daybook_b", "second") });
  await client.connect();
  const { rows } = await client.query(
    `SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname IN ('identity', 'profile', 'event', 'metric', 'webhook')`,
  );
  await client.end();
  expect(rows).toEqual([{ tableowner: "daybook_owner" }]);
});
