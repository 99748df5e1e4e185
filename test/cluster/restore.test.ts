/**
 * Backup and restore to an instant, by the commands of docs/operating/backup.md: aggregates are those of the instant,
 * and what was not counted then is counted afterwards. It needs the programs of PostgreSQL.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createApi, type Api } from "../support/api.ts";
import { connectTo } from "../support/daybook.ts";
import { startKillableMesh, type KillableMesh } from "../support/mesh.ts";
import { startNats } from "../support/nats.ts";
import { eventually, freePort } from "../support/processes.ts";
import { aggregatesPath } from "../support/recount.ts";

const programs = "/usr/lib/postgresql";
const systemUser = "postgres";
const owner = new Owner();
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  const versions = await readdir(programs).catch(() => [] as string[]);
  const version = versions
    .map(Number)
    .filter(Boolean)
    .toSorted((a, b) => b - a)[0];
  if (version === undefined) {
    throw new Error("PostgreSQL's programs are missing. Debian's package `postgresql` has them.");
  }
  folder = await mkdtemp(join(tmpdir(), "daybook-restore-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const port = await freePort();
  env = {
    PATH: `${join(programs, String(version), "bin")}:${process.env.PATH}`,
    SUPERUSER_URL: `postgres://${systemUser}@127.0.0.1:${port}/postgres`,
    BACKUPS: join(folder, "backups"),
    PGDATA: join(folder, "data"),
    PGPORT: String(port),
    NATS_STORE: join(folder, "nats"),
  };
  // The user of PostgreSQL enters and writes here.
  await chmod(folder, 0o755);
  await mkdir(env["BACKUPS"] as string);
  if (user) for (const path of [folder, env["BACKUPS"] as string]) await chown(path, user.uid, user.gid);
});
afterAll(() => owner.close());

/** PostgreSQL refuses to run as root. */
const user = process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : undefined;

function idOf(flag: string): number {
  const { status, stdout } = spawnSync("id", [flag, systemUser], { encoding: "utf8" });
  if (status !== 0) throw new Error(`The user ${systemUser} is missing. Debian's package \`postgresql\` makes it.`);
  return Number(stdout);
}

/** Runs commands as the user of PostgreSQL. @returns what they print. */
function shell(commands: string, more: Record<string, string> = {}): string {
  const words = ["-euc", commands];
  const { status, stdout, stderr } = spawnSync("bash", words, {
    cwd: folder,
    env: { ...env, ...more },
    encoding: "utf8",
    // A server that is started keeps open files that it inherits.
    stdio: ["ignore", "pipe", "pipe"],
    ...user,
  });
  if (status !== 0) throw new Error(`${commands}\n${stdout}${stderr}`);
  return stdout.trim();
}

/** The commands below a heading of the document, block by block. */
function commandsBelow(heading: string): string[] {
  const text = readFileSync("docs/operating/backup.md", "utf8");
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  return [...section.matchAll(/```sh\n([^]*?)```/g)].map(([, commands = ""]) => commands);
}

const startPostgres = (): string =>
  shell(
    `pg_ctl -w -l "${folder}/log" -o "-p $PGPORT -c unix_socket_directories='' -c max_connections=200" start >/dev/null`,
  );
const stopPostgres = (): string => shell("pg_ctl -w -m fast stop");

/** Starts NATS and a mesh, which `of` closes. */
async function startDaybook(of: Owner): Promise<KillableMesh> {
  const nats = of.own(await startNats(env["NATS_STORE"] as string));
  return startKillableMesh({ databaseUrl: env["SUPERUSER_URL"] as string, natsUrl: nats.url }, of);
}

async function record(api: Api, type: string, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const identifier = { type: "email", value: `person${at}@example.com` };
    const event = { type, identifier, properties: {}, value: "1.50", currency: "EUR" };
    expect((await api.post("/v1/events", event)).status).toBe(201);
  }
}

const dayMs = 24 * 3_600_000;
const range = { from: new Date(Date.now() - dayMs).toISOString(), to: new Date(Date.now() + dayMs).toISOString() };

/** The aggregate of a type, once it counts so many events. */
async function aggregateOf(api: Api, type: string, count: number): Promise<unknown> {
  const ask = () => api.post(aggregatesPath, { metric: type, ...range });
  let seen = "";
  await eventually(
    async () => {
      const { status, body, text } = await ask();
      seen = text;
      if (status !== 200) return undefined;
      const counts = body.data.series[0]?.count as number[] | undefined;
      return counts?.reduce((sum, of) => sum + of, 0) === count ? true : undefined;
    },
    { timeoutMs: 60_000, explain: () => `the aggregate is not of ${count} events: ${seen}` },
  );
  // Asked again, because the recency is read before the counts, and the last event may have been counted in between.
  return (await ask()).body.data;
}

test("a restore to an instant has its aggregates, and counts what was not counted then", async () => {
  shell("initdb --username=postgres --auth=trust --encoding=UTF8 --locale=C");
  startPostgres();
  owner.defer(async () => void stopPostgres());
  for (const commands of commandsBelow("Once: keep the log of changes")) shell(commands);
  stopPostgres();
  startPostgres();

  const before = new Owner();
  owner.own(before);
  const mesh = await startDaybook(before);
  const { secret, ...api } = await connectTo(mesh.addresses).newProperty();
  await record(api, "order.early", 3);
  for (const commands of commandsBelow("Each day: a base backup")) shell(commands);
  await record(api, "order.counted", 5);
  const early = await aggregateOf(api, "order.early", 3);
  const counted = await aggregateOf(api, "order.counted", 5);
  const profiles = (await api.get("/v1/profiles")).body.data;
  expect(profiles).toHaveLength(5);
  await mesh.kill("metric");
  await record(api, "order.waiting", 4);
  const target = shell(`psql "$SUPERUSER_URL" --tuples-only --no-align -c "SELECT clock_timestamp()"`);
  await mesh.restart("metric");
  // After the instant: the messages are taken, and more is recorded.
  await aggregateOf(api, "order.waiting", 4);
  await record(api, "order.late", 2);
  await aggregateOf(api, "order.late", 2);

  const [archiveLast = "", makeFolder = "", whetherDone = "", emptyNats = "", ...more] = commandsBelow("Restore");
  expect([emptyNats, more]).toEqual([expect.stringContaining("NATS_STORE"), []]);
  // What is written meanwhile is in a file that is not archived yet.
  const last = shell(`psql "$SUPERUSER_URL" -Atc "SELECT pg_walfile_name(pg_current_wal_lsn())"`);
  shell(archiveLast);
  const isArchived = `psql "$SUPERUSER_URL" -Atc "SELECT last_archived_wal >= '${last}' FROM pg_stat_archiver"`;
  await eventually(() => shell(isArchived) === "t" || undefined);
  await before.close();
  stopPostgres();
  shell(`mv "$PGDATA" "$PGDATA.lost"`);
  shell(makeFolder, { TARGET: target });
  startPostgres();
  await eventually(() => (shell(whetherDone) === "f" ? true : undefined));
  spawnSync("bash", ["-euc", emptyNats], { env });

  const after = new Owner();
  owner.own(after);
  const restored = await startDaybook(after);
  const again = createApi(restored.addresses.gatewayUrl, secret);
  expect(await aggregateOf(again, "order.early", 3)).toEqual(early);
  expect(await aggregateOf(again, "order.counted", 5)).toEqual(counted);
  expect(((await again.get("/v1/profiles")).body as { data: unknown }).data).toEqual(profiles);
  await aggregateOf(again, "order.waiting", 4);
  const { body } = await again.get("/v1/events?page[limit]=100");
  const types = (body.data as { type: string }[]).map(({ type }) => type);
  expect(types.filter((type) => type.startsWith("order."))).toHaveLength(12);
  expect(types).not.toContain("order.late");
  // And it goes on.
  await record(again, "order.waiting", 1);
  await aggregateOf(again, "order.waiting", 5);
}, 400_000);
