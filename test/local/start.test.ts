/** `npm start` as a newcomer and as an accident meet it: the real process, on an embedded PostgreSQL of its own. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import { tryDecodeId } from "#shared/values/ids.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createApi, type Api } from "../support/api.ts";
import { createDatabase } from "../support/database.ts";
import { eventually, freePort, startNode, type RunningProcess } from "../support/processes.ts";

let owner: Owner;
let dataDir: string;

beforeEach(async () => {
  owner = new Owner();
  dataDir = await mkdtemp(join(tmpdir(), "daybook-start-"));
  owner.defer(() => rm(dataDir, { recursive: true, force: true }));
});
afterEach(() => owner.close());

/** Starts it and waits for the words that it prints when it is ready. */
async function start(
  env: Record<string, string> = {},
): Promise<RunningProcess & { api: Api; curl: string; address: string }> {
  const [port, internalPort] = [await freePort(), await freePort()];
  const settings = { DATA_DIR: dataDir, PORT: String(port), INTERNAL_PORT: String(internalPort), ...env };
  const daybook = owner.own(startNode("deploy/local/main.ts", settings));
  const curl = await eventually(
    () => {
      if (daybook.child.exitCode !== null) throw new Error(daybook.output());
      return /^curl .*\n/m.exec(daybook.output())?.[0];
    },
    { timeoutMs: 60_000, explain: () => `npm start is not ready: ${daybook.output()}` },
  );
  const [, key = ""] = /Bearer (sk_test_\w+)/.exec(curl) ?? [];
  const address = `http://127.0.0.1:${port}`;
  return { ...daybook, api: createApi(address, key), curl, address };
}

/** A database that there is already, which takes less time to start on than an embedded one. */
async function ownDatabase(): Promise<{ DATABASE_URL: string }> {
  return { DATABASE_URL: owner.own(await createDatabase(inject("databaseUrl"))).url };
}

/** The embedded database of the process, seen from outside. */
async function connectToDatabase(): Promise<pg.Client> {
  const { databasePassword } = JSON.parse(await readFile(join(dataDir, "secrets.json"), "utf8")) as Record<
    string,
    string
  >;
  const port = (await readFile(join(dataDir, "postgres/postmaster.pid"), "utf8")).split("\n")[3];
  return connectTo(`postgres://daybook:${databasePassword}@127.0.0.1:${port}/postgres`);
}

async function connectTo(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  // One of the tests ends the server.
  client.on("error", () => undefined);
  owner.defer(() => client.end().catch(() => undefined));
  return client;
}

describe("npm start", () => {
  test("prints a line that records an event as it is, and a restart keeps the event, its profile and its metric", async () => {
    const first = await start();
    const shell = spawnSync("sh", ["-c", `${first.curl.trim()} -w '\\n%{http_code}'`], { encoding: "utf8" });
    const [body = "", status] = shell.stdout.trim().split("\n");
    expect(status).toBe("201");
    const recorded = (JSON.parse(body) as { data: { id: string; profile_id: string } }).data;
    const metrics = await eventually(async () => {
      const { body: list } = await first.api.get("/v1/metrics?filter[system]=false");
      return list.data.length > 0 ? list.data : undefined;
    });
    first.child.kill("SIGTERM");
    expect(await first.ended).toEqual({ code: 0, signal: null });

    const { api } = await start();
    expect((await api.get(`/v1/events/${recorded.id}`)).body.data).toEqual(recorded);
    expect((await api.get(`/v1/profiles/${recorded.profile_id}`)).status).toBe(200);
    expect((await api.get("/v1/metrics?filter[system]=false")).body.data).toEqual(metrics);
  });

  test("SIGTERM ends it after the requests under way, with exit code 0", async () => {
    const daybook = await start();
    await daybook.api.post("/v1/events", event("first@example.com"));
    const load = Promise.all(
      Array.from({ length: 100 }, (_, index) => daybook.api.post("/v1/events", event(`p${index}@example.com`))),
    );
    await sleep(20);
    daybook.child.kill("SIGTERM");
    const answers = await load;
    expect(await daybook.ended).toEqual({ code: 0, signal: null });
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    const { api } = await start();
    for (const { body } of answers) expect((await api.get(`/v1/events/${body.data.id}`)).status).toBe(200);
  });

  test("SIGTERM does not wait for a request that never arrives", async () => {
    const daybook = await start(await ownDatabase());
    const { port } = new URL(daybook.address);
    const socket = connect(Number(port), "127.0.0.1", () =>
      socket.write("GET /health/live HTTP/1.1\r\nHost: a\r\nX: "),
    );
    socket.on("error", () => undefined);
    await sleep(100);
    daybook.child.kill("SIGTERM");
    expect(await daybook.ended).toEqual({ code: 0, signal: null });
  });

  test("a first start that was cut off is made good by the next", async () => {
    await mkdir(join(dataDir, "postgres.new"), { recursive: true });
    await writeFile(join(dataDir, "postgres.new", "PG_VERSION"), "18\n");
    await writeFile(join(dataDir, "postgres.password"), "left behind");
    const { api } = await start();
    expect((await api.post("/v1/events", event("a@example.com"))).status).toBe(201);
    expect((await readdir(dataDir)).toSorted()).toEqual([
      "connection.json",
      "daybook.pid",
      "postgres",
      "postgres.log",
      "secrets.json",
    ]);
  });

  test("a database that was in use before keeps its keys, and none is shown that opens nothing", async () => {
    const database = await ownDatabase();
    const first = await start(database);
    expect((await first.api.post("/v1/events", event("a@example.com"))).status).toBe(201);
    await first.close();
    const second = await start({ ...database, DATA_DIR: join(dataDir, "other") });
    expect(second.output()).not.toContain("sk_test_");
    expect(second.curl).toContain("$DAYBOOK_KEY");
  });

  test("prints the link to the first account, in no log, until there is a member", async () => {
    const database = await ownDatabase();
    const first = await start({ ...database, LOG_LEVEL: "debug" });
    const setup = /^Open the dashboard: (\S+)\/dashboard\/setup#([\w-]{43})\n/m;
    const [, address, token = ""] = setup.exec(first.output()) ?? [];
    expect(address).toBe(first.address);
    const { services_url: url, internal_token: internalToken } = JSON.parse(
      await readFile(join(dataDir, "connection.json"), "utf8"),
    ) as Record<string, string>;
    const members = createClient(MemberService, http2Transport(url ?? "", internalToken ?? ""));
    const tokenHash = createHash("sha256").update(token).digest();
    await members.acceptLink({ tokenHash, email: "ada@example.com", name: "Ada", password: "correct horse battery" });
    expect(first.output().split(token)).toHaveLength(2);
    await first.close();
    const second = await start({ ...database, PUBLIC_URL: "https://shop.example.com" });
    expect(second.output()).toContain("\nOpen the dashboard: https://shop.example.com/dashboard\n");
  });

  test("says every setting that is wrong at once, and starts nothing", async () => {
    const daybook = startNode("deploy/local/main.ts", {
      DATA_DIR: dataDir,
      PORT: "80800",
      RATE_LIMIT_PER_MINUTE: "many",
      BOOTSTRAP_LIVE_KEY: "sk_test_1",
      DATABASE_URL: "mysql://x",
    });
    expect(await daybook.ended).toEqual({ code: 1, signal: null });
    for (const name of ["PORT", "RATE_LIMIT_PER_MINUTE", "BOOTSTRAP_LIVE_KEY", "DATABASE_URL"]) {
      expect(daybook.output()).toContain(`${name} must be`);
    }
  });

  test("a second one on the same folder is refused and leaves the first alone", async () => {
    const { api } = await start(await ownDatabase());
    const second = startNode("deploy/local/main.ts", { DATA_DIR: dataDir, PORT: String(await freePort()) });
    expect((await second.ended).code).toBe(1);
    expect(second.output()).toContain("in use by another Daybook");
    expect((await api.post("/v1/events", event("a@example.com"))).status).toBe(201);
  });

  test("takes the bootstrap keys that it is given", async () => {
    const secret = `sk_live_${"k".repeat(32)}`;
    const database = await ownDatabase();
    const { child } = await start({ ...database, BOOTSTRAP_LIVE_KEY: secret });
    expect(child.exitCode).toBeNull();
    const rows = await (
      await connectTo(database.DATABASE_URL)
    ).query("SELECT display_prefix, secret_hash FROM identity.keys");
    expect(rows.rows.map(({ display_prefix }: { display_prefix: string }) => display_prefix)).toContain(
      secret.slice(0, 12),
    );
    expect(JSON.stringify(rows.rows)).not.toContain(secret);
  });
});

describe("PostgreSQL", () => {
  test("that loses connections or ends costs some 503s, and the process goes on", async () => {
    const daybook = await start();
    const stopped = new AbortController();
    const answers: { status: number; retryAfter: string | null; id: string }[] = [];
    const load = Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        while (!stopped.signal.aborted) {
          const { status, headers, body } = await daybook.api.post("/v1/events", event(`c${client}@example.com`));
          answers.push({ status, retryAfter: headers.get("retry-after"), id: body.data?.id });
        }
      }),
    );
    const database = await connectToDatabase();
    for (let turn = 0; turn < 10; turn++) {
      await sleep(50);
      await database.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
      );
    }
    const [pid] = (await readFile(join(dataDir, "postgres/postmaster.pid"), "utf8")).split("\n");
    process.kill(Number(pid), "SIGKILL");
    const before = answers.length;
    await eventually(() => (answers.slice(before + 100).some(({ status }) => status === 201) ? true : undefined), {
      timeoutMs: 90_000,
      explain: () => {
        const seen = answers.slice(before).map(({ status }) => status);
        const log = readFileSync(join(dataDir, "postgres.log"), "utf8").slice(-2000);
        return `answers since: ${seen.length}, the last ${seen.slice(-20).join(" ")}\n${daybook.output().slice(-4000)}\n${log}`;
      },
    });
    stopped.abort();
    await load;
    expect(daybook.child.exitCode).toBeNull();
    expect(answers.filter(({ status }) => status !== 201 && status !== 503)).toEqual([]);
    expect(answers.filter(({ status, retryAfter }) => status === 503 && retryAfter !== "1")).toEqual([]);
    for (const { id } of answers.filter(({ status }) => status === 201).slice(-50)) {
      expect((await daybook.api.get(`/v1/events/${id}`)).status).toBe(200);
    }
  }, 150_000);
});

describe("SIGKILL in the middle of a load", () => {
  test("loses no event that was answered, and each is counted once after the restart", async () => {
    const killed = await start();
    const recorded: string[] = [];
    const stopped = new AbortController();
    const clients = Array.from({ length: 32 }, async (_, client) => {
      for (let index = 0; !stopped.signal.aborted; index++) {
        try {
          const { status, body } = await killed.api.post(
            "/v1/events",
            event(`c${client % 10}@example.com`, `${client}-${index}`),
          );
          if (status === 201) recorded.push(body.data.id as string);
        } catch {
          return;
        }
      }
    });
    await eventually(() => (recorded.length > 1500 ? true : undefined));
    killed.child.kill("SIGKILL");
    stopped.abort();
    await Promise.all(clients);
    expect((await killed.ended).signal).toBe("SIGKILL");

    await start();
    const database = await connectToDatabase();
    const { rows } = await database.query<{ found: string }>(
      "SELECT count(*) AS found FROM unnest($1::uuid[]) AS answered (id) JOIN event.events e ON e.id = answered.id",
      [recorded.map(uuidOf)],
    );
    expect(Number(rows[0]?.found)).toBe(recorded.length);

    const totals = await eventually(async () => {
      const result = await database.query<{ waiting: string; events: string; counted: string }>(
        `SELECT (SELECT count(*) FROM event.outbox) AS waiting, (SELECT count(*) FROM event.events) AS events,
                (SELECT sum(event_count) FROM metric.metrics) AS counted`,
      );
      return result.rows[0]?.waiting === "0" ? result.rows[0] : undefined;
    });
    expect(totals.counted).toBe(totals.events);
    expect(Number(totals.events)).toBeGreaterThanOrEqual(recorded.length);
  });
});

function event(email: string, note = ""): object {
  return { type: "page.viewed", identifier: { type: "email", value: email }, properties: { note } };
}

function uuidOf(id: string): string {
  const uuid = tryDecodeId("evt", id);
  if (uuid === undefined) throw new Error(`${id} is no id of an event`);
  return uuid;
}
