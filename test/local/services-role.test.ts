/** The services' role in the embedded database: enough for all they do, and nothing of the machine. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { startPostgres } from "../../deploy/local/postgres.ts";
import { allTaken, countOf } from "../support/counting.ts";
import { startSingleProcess, type SingleProcess } from "../support/daybook.ts";

let owner: Owner;
let folder: string;

beforeEach(async () => {
  owner = new Owner();
  folder = await mkdtemp(join(tmpdir(), "daybook-role-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
});
afterEach(() => owner.close());

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Schemas and relations of the services that are not their role's. */
const foreign = `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('identity', 'profile', 'event', 'metric', 'webhook')
    AND (c.relowner <> 'daybook_services'::regrole OR n.nspowner <> 'daybook_services'::regrole)`;

test("neither reads the machine's files, nor runs its programs, nor becomes more than it is", async () => {
  const { url } = owner.own(await startPostgres(join(folder, "postgres"), "secret"));
  expect(
    await query(url, "SELECT rolsuper, rolcreaterole, rolbypassrls FROM pg_roles WHERE rolname = current_user"),
  ).toEqual([{ rolsuper: false, rolcreaterole: false, rolbypassrls: false }]);
  for (const attempt of [
    "CREATE TEMP TABLE t (line text); COPY t FROM PROGRAM 'id'",
    "CREATE TEMP TABLE t (line text); COPY t TO PROGRAM 'cat'",
    "CREATE TEMP TABLE t (line text); COPY t FROM '/etc/passwd'",
    `CREATE TEMP TABLE t (line text); COPY t TO '${folder}/written'`,
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT lo_import('/etc/passwd')",
    "ALTER SYSTEM SET archive_command = 'id'",
    "ALTER ROLE daybook_services SUPERUSER",
    "SET ROLE daybook",
    "CREATE ROLE another SUPERUSER",
  ]) {
    await expect(query(url, attempt), attempt).rejects.toThrow(/permission denied|must be superuser|permission/);
  }
});

test("owns what is there, in a new folder, in one that is older than the role, and at each start after", async () => {
  const type = "kept.event";
  let propertyId = "";
  let secret = "";
  const use = async (work: (daybook: SingleProcess, superuserUrl: string) => Promise<void>): Promise<void> => {
    const running = new Owner();
    try {
      const { url, superuserUrl } = running.own(await startPostgres(join(folder, "postgres"), "secret"));
      await work(await startSingleProcess(running, { databaseUrl: url }), superuserUrl);
      expect(await query(superuserUrl, foreign)).toEqual([]);
    } finally {
      await running.close();
    }
  };
  const record = async (daybook: SingleProcess): Promise<number> => {
    const answer = await fetch(`${daybook.baseUrl}/v1/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ type, identifier: { type: "email", value: "ada@example.com" }, properties: {} }),
    });
    await allTaken(daybook);
    return answer.status;
  };
  await use(async (daybook) => {
    ({ propertyId, secret } = await daybook.newProperty());
    expect(await record(daybook)).toBe(201);
  });
  // As it was before the role: all belongs to the superuser.
  const before = owner.own(await startPostgres(join(folder, "postgres"), "secret"));
  await query(
    before.superuserUrl,
    "REASSIGN OWNED BY daybook_services TO daybook; DROP OWNED BY daybook_services; DROP ROLE daybook_services",
  );
  await before.close();
  for (const recorded of [2, 3]) {
    await use(async (daybook) => {
      expect(await record(daybook)).toBe(201);
      expect(await countOf(daybook, propertyId, type)).toBe(recorded);
    });
  }
});
