/** What a service finds at its start: a server that is too small, or a pooler before it. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import pg from "pg";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createDatabase, execute } from "../support/database.ts";
import { eventually, freePort, startNode, type RunningProcess } from "../support/processes.ts";

let owner: Owner;
let databaseUrl: string;
beforeEach(async () => {
  owner = new Owner();
  databaseUrl = owner.own(await createDatabase(inject("databaseUrl"))).url;
});
afterEach(() => owner.close());

interface Started extends RunningProcess {
  internalUrl: string;
}

async function start(env: Record<string, string>, service = "identity"): Promise<Started> {
  const internal = await freePort();
  const process = startNode(`services/${service}/main.ts`, {
    HOST: "127.0.0.1",
    PORT: "0",
    INTERNAL_PORT: String(internal),
    INTERNAL_TOKEN: "a token for the services of these tests",
    DATABASE_URL: databaseUrl,
    NATS_URL: inject("natsUrl"),
    LOG_LEVEL: "warn",
    ...env,
  });
  return { ...owner.own(process), internalUrl: `http://127.0.0.1:${internal}` };
}

async function untilReady({ internalUrl, output }: Started): Promise<void> {
  await eventually(async () => ((await fetch(`${internalUrl}/health/ready`)).ok ? true : undefined), {
    explain: output,
  });
}

async function expectRefusal({ ended, output }: Started, reason: string): Promise<void> {
  expect([output(), await ended]).toEqual([expect.any(String), { code: 1, signal: null }]);
  expect(output()).toContain(reason);
}

test("a service that may open more connections than the server has does not start", async () => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ most: number; used: number }>(
    `SELECT current_setting('max_connections')::int AS most,
            (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used`,
  );
  await client.end();
  const { most = 0, used = 0 } = rows[0] ?? {};
  const own = `this process may open ${most} connections, and PostgreSQL allows `;
  await expectRefusal(await start({ DATABASE_CONNECTIONS_MAX: String(most) }), own);
  // It fits by itself, and not beside what others hold; some of those connections may end meanwhile.
  expect(used).toBeGreaterThan(10);
  const tight = await start({ DATABASE_CONNECTIONS_MAX: String(most - 8) });
  await untilReady(tight);
  expect(tight.output()).toContain("may not fit beside those of others");
  const small = await start({ DATABASE_CONNECTIONS_MAX: "2" });
  await untilReady(small);
  expect(small.output()).not.toContain("may not fit");
});

/**
 * Stands before PostgreSQL as PgBouncer does: it refuses start-up parameters that it does not know, or drops them. The
 * sessions are those of the server, so what a pooler does to statements is not part of it.
 */
async function startPooler(ignores: boolean): Promise<string> {
  const server = createServer((client) => {
    client.on("error", () => undefined);
    client.once("data", (packet: Buffer) => {
      const words = packet.subarray(8).toString("latin1").split("\0");
      const pairs = Array.from({ length: Math.floor(words.length / 2) }, (_, at) => words.slice(at * 2, at * 2 + 2));
      const isTimeout = ([name = ""]: string[]): boolean => name.endsWith("_timeout");
      const refused = pairs.find(isTimeout)?.[0];
      if (refused !== undefined && !ignores) {
        const text = `SFATAL\0C08P01\0Munsupported startup parameter: ${refused}\0\0`;
        const head = Buffer.from("E\0\0\0\0");
        head.writeInt32BE(text.length + 4, 1);
        client.end(Buffer.concat([head, Buffer.from(text)]));
        return;
      }
      const kept = pairs.filter((pair) => pair[0] !== "" && !isTimeout(pair)).map((pair) => `${pair.join("\0")}\0`);
      const body = Buffer.from(`${kept.join("")}\0`, "latin1");
      const head = Buffer.alloc(8);
      head.writeInt32BE(body.length + 8, 0);
      packet.copy(head, 4, 4, 8);
      const upstream = connect(Number(new URL(databaseUrl).port), "127.0.0.1");
      upstream.on("error", () => client.destroy());
      upstream.once("close", () => client.destroy());
      client.once("close", () => upstream.destroy());
      upstream.write(Buffer.concat([head, body]));
      client.pipe(upstream).pipe(client);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  owner.defer(async () => void server.close());
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return url.href;
}

/** Sets a timeout of the role, in this database only. */
async function setTimeoutOfRole(name: string, value: string): Promise<void> {
  const { username, pathname } = new URL(databaseUrl);
  await execute(databaseUrl, `ALTER ROLE "${username}" IN DATABASE ${pathname.slice(1)} SET ${name} = '${value}'`);
}

test("a service says what to set when a pooler refuses or drops its timeouts", async () => {
  await expectRefusal(await start({ DATABASE_URL: await startPooler(false) }), "set DATABASE_POOLER=transaction");
  await expectRefusal(await start({ DATABASE_URL: await startPooler(true) }), "set DATABASE_POOLER=transaction");
});

test("with DATABASE_POOLER=transaction a service starts when its role has a timeout, and only then", async () => {
  const env = { DATABASE_URL: await startPooler(false), DATABASE_POOLER: "transaction" };
  await expectRefusal(await start(env), "statement_timeout must be 1 to 30000 ms, and is 0 ms");
  await setTimeoutOfRole("statement_timeout", "31s");
  await expectRefusal(await start(env), "statement_timeout must be 1 to 30000 ms, and is 31000 ms");
  await setTimeoutOfRole("statement_timeout", "30s");
  const started = await start(env);
  await untilReady(started);
  expect(started.output()).toContain("idle_in_transaction_session_timeout is 0");
  await setTimeoutOfRole("idle_in_transaction_session_timeout", "60s");
  const quiet = await start(env);
  await untilReady(quiet);
  expect(quiet.output()).not.toContain("idle_in_transaction");
});

test("settings that do not go together are refused", async () => {
  await expectRefusal(await start({ DATABASE_POOLER: "session" }), "DATABASE_POOLER must be none or transaction");
  const env = { DATABASE_POOLER: "transaction", EVENT_RETENTION_MONTHS: "3" };
  await expectRefusal(await start(env, "event"), "EVENT_RETENTION_MONTHS must be 0");
});
