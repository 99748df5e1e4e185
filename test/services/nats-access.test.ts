/** A NATS that lets nobody in without credentials, or speaks TLS only, is entered by the settings alone. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { connect, headers, nkeys, type NodeConnectionOptions } from "@nats-io/transport-node";
import { generate } from "selfsigned";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bus } from "#shared/bus/bus.ts";
import { readSettings } from "#shared/process/config.ts";
import { newUuid } from "#shared/values/ids.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { connectNatsBus } from "#shared/bus/nats/bus.ts";
import { readNatsSettings } from "#shared/bus/nats/settings.ts";
import { connectNatsSignals } from "#shared/bus/nats/signals.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { testSigner } from "../support/daybook.ts";
import { publishAsStranger, startNats } from "../support/nats.ts";
import { makeOperator } from "../support/nats-operator.ts";
import { eventually, freePort } from "../support/processes.ts";

const log = createLog("test", "silent");
const owner = new Owner();
const folder = mkdtempSync(join(tmpdir(), "daybook-nats-access-"));
owner.defer(async () => rmSync(folder, { recursive: true, force: true }));
afterAll(() => owner.close());

const fileOf = (name: string): string => join(folder, name);
function write(name: string, content: string): string {
  writeFileSync(fileOf(name), content, { mode: 0o600 });
  return fileOf(name);
}

/**
 * Makes an authority, one that nobody trusts, and certificates of the first for `localhost`: of a server, and of a
 * client.
 */
async function makeCertificates(): Promise<void> {
  const made = { keyType: "ec", algorithm: "sha256" } as const;
  const authorityOf = async (name: string) => {
    const extensions = [
      { name: "basicConstraints" as const, cA: true, critical: true },
      { name: "keyUsage" as const, keyCertSign: true, critical: true },
    ];
    const { cert, private: key } = await generate([{ name: "commonName", value: name }], { ...made, extensions });
    write(`${name}.pem`, cert);
    return { cert, key };
  };
  const ca = await authorityOf("ca");
  await authorityOf("other-ca");
  for (const name of ["server", "client"]) {
    const extensions = [
      { name: "basicConstraints" as const, cA: false, critical: true },
      { name: "subjectAltName" as const, altNames: [{ type: 2 as const, value: "localhost" }] },
    ];
    const { cert, private: key } = await generate([{ name: "commonName", value: name }], { ...made, extensions, ca });
    write(`${name}.pem`, cert);
    write(`${name}.key`, key);
  }
}

const password = "p@ss:w,rd/%1";
const token = "s3cr3t token";
const user = nkeys.createUser();
const userSeed = new TextDecoder().decode(user.getSeed());
const operator = makeOperator();

interface Case {
  config: () => string;
  /** Its settings, for the port. */
  env: (port: number) => Record<string, string>;
  /** Settings that do not get in. */
  bad: (port: number) => Record<string, string>;
}

const tls = (more = ""): string =>
  `tls { cert_file: "${fileOf("server.pem")}", key_file: "${fileOf("server.key")}", ca_file: "${fileOf("ca.pem")}" ${more} }`;
const encodedPassword = encodeURIComponent(password);

const cases: Record<string, Case> = {
  "a user and a password": {
    config: () => `authorization { user: ada, password: "${password}" }`,
    // The first server is not there.
    env: (port) => ({ NATS_URL: `nats://ada:${encodedPassword}@localhost:1,nats://localhost:${port}` }),
    bad: (port) => ({ NATS_URL: `nats://ada:wrong@localhost:${port}` }),
  },
  "a token": {
    config: () => `authorization { token: "${token}" }`,
    env: (port) => ({ NATS_URL: `nats://${encodeURIComponent(token)}@127.0.0.1:${port}` }),
    bad: (port) => ({ NATS_URL: `nats://127.0.0.1:${port}` }),
  },
  "an nkey": {
    config: () => `authorization { users: [ { nkey: ${user.getPublicKey()} } ] }`,
    env: (port) => ({ NATS_URL: `nats://127.0.0.1:${port}`, NATS_NKEY: userSeed }),
    bad: (port) => ({
      NATS_URL: `nats://127.0.0.1:${port}`,
      NATS_NKEY: new TextDecoder().decode(nkeys.createUser().getSeed()),
    }),
  },
  "the seed file of an nkey": {
    config: () => `authorization { users: [ { nkey: ${user.getPublicKey()} } ] }`,
    env: (port) => ({ NATS_URL: `nats://127.0.0.1:${port}`, NATS_NKEY_FILE: write("seed", `${userSeed}\n`) }),
    bad: (port) => ({ NATS_URL: `nats://127.0.0.1:${port}` }),
  },
  "a credentials file": {
    config: () => operator.config,
    env: (port) => ({ NATS_URL: `nats://127.0.0.1:${port}`, NATS_CREDS: write("user.creds", operator.creds) }),
    bad: (port) => ({
      NATS_URL: `nats://127.0.0.1:${port}`,
      NATS_CREDS: write("other.creds", makeOperator().creds),
    }),
  },
  "TLS and a password": {
    config: () => `authorization { user: ada, password: "${password}" }\n${tls()}`,
    env: (port) => ({ NATS_URL: `tls://ada:${encodedPassword}@localhost:${port}`, NATS_TLS_CA: fileOf("ca.pem") }),
    bad: (port) => ({
      NATS_URL: `tls://ada:${encodedPassword}@localhost:${port}`,
      NATS_TLS_CA: fileOf("other-ca.pem"),
    }),
  },
  "TLS with a certificate of both": {
    config: () => tls(", verify: true"),
    env: (port) => ({
      NATS_URL: `nats://localhost:${port}`,
      NATS_TLS_CA: fileOf("ca.pem"),
      NATS_TLS_CERT: fileOf("client.pem"),
      NATS_TLS_KEY: fileOf("client.key"),
    }),
    bad: (port) => ({ NATS_URL: `nats://localhost:${port}`, NATS_TLS_CA: fileOf("ca.pem") }),
  },
};

beforeAll(makeCertificates);

test.each(Object.entries(cases))("%s lets messages and signals through, and nobody else in", async (name, one) => {
  const port = await freePort();
  const config = write(`${name.replaceAll(" ", "-")}.conf`, one.config());
  const settings = readSettings(one.env(port), readNatsSettings);
  const entering: NodeConnectionOptions = { ...settings.access, servers: settings.servers };
  owner.own(await startNats(join(folder, name), port, ["-c", config], entering));

  const subject = `daybook.test.${newUuid()}`;
  const options = { ...settings, signer: testSigner, name: "test", log };
  const bus = owner.own(await connectNatsBus({ ...options, registry: createRegistry() }));
  const taken: string[] = [];
  await bus.subscribe("test", subject, (messages) => {
    taken.push(...messages.map(({ payload }) => Buffer.from(payload).toString()));
    return Promise.resolve();
  });
  const [outcome] = await bus.publish([{ id: newUuid(), subject, payload: Buffer.from(name) }]);
  expect(outcome).toMatchObject({ sequence: 1 });
  await eventually(() => (taken.includes(name) ? true : undefined));

  const [speaker, listener] = ["speaker", "listener"].map((who) =>
    owner.own(connectNatsSignals({ ...options, name: who, registry: createRegistry() })),
  );
  const heard: string[] = [];
  listener?.subscribe("test.word", (payload) => heard.push(Buffer.from(payload).toString()));
  await eventually(() => {
    speaker?.publish("test.word", Buffer.from(name));
    return heard.includes(name) ? true : undefined;
  });

  const refused = readSettings(one.bad(port), readNatsSettings);
  const attempt = connect({ ...refused.access, servers: refused.servers, reconnect: false, timeout: 5_000 });
  await expect(attempt).rejects.toThrow();
  // What ends in a log has no secret in it.
  const failure = await attempt.then(
    () => "",
    (error: unknown) => inspect(error, { depth: 5 }),
  );
  expect(failure).not.toMatch(/p@ss|wrong|s3cr3t|SU[A-Z0-9]{20}/);
});

test("a server without TLS is refused where TLS is asked for", async () => {
  const server = owner.own(await startNats(join(folder, "plain")));
  const port = new URL(server.url).port;
  const settings = readSettings({ NATS_URL: `tls://localhost:${port}` }, readNatsSettings);
  await expect(connect({ ...settings.access, servers: settings.servers, reconnect: false })).rejects.toThrow(/tls/);
});

test("the server of the documents lets each process do its part, and a gateway no more than listen", async () => {
  const text = readFileSync("docs/operating/nats.md", "utf8");
  const [, example = ""] = /```nats\n([^]*?)```/.exec(text) ?? [];
  const port = await freePort();
  const config = example
    .replace(/^listen:.*$/m, "")
    .replace(/^jetstream.*$/m, "")
    .replace(/^tls \{[^]*?^\}$/m, "")
    .replaceAll(/\$([A-Z]+)_PASSWORD/g, (_text, name: string) => name.toLowerCase());
  expect(config).not.toMatch(/tls|_PASSWORD/);
  const access = (name: string) =>
    readSettings({ NATS_URL: `nats://${name}:${name}@127.0.0.1:${port}` }, readNatsSettings);
  const { servers, access: ofEvent } = access("event");
  owner.own(
    await startNats(join(folder, "documented"), port, ["-c", write("documented.conf", config)], {
      ...ofEvent,
      servers,
    }),
  );
  const optionsOf = (name: string) => ({ ...access(name), signer: testSigner, name, log, registry: createRegistry() });
  const busOf = async (name: string): Promise<Bus> => owner.own(await connectNatsBus(optionsOf(name)));
  const names = ["identity", "profile", "event", "metric", "webhook"];
  const [identity, profile, event, metric, webhook] = await Promise.all(names.map(busOf));
  // Publishers, and who takes what they publish.
  const ways: [string, Bus | undefined, Bus | undefined][] = [
    ["daybook.profile.changed", profile, event],
    ["daybook.profile.import_due", profile, profile],
    ["daybook.event.recorded", event, metric],
    ["daybook.metric.created", metric, webhook],
  ];
  for (const [subject, from, to] of ways) {
    const ids: string[] = [];
    await to?.subscribe(subject.replaceAll(".", "_"), subject, (messages) => {
      ids.push(...messages.map(({ id }) => id));
      return Promise.resolve();
    });
    const id = newUuid();
    expect(await from?.publish([{ id, subject, payload: Buffer.from("word") }])).toEqual([
      { epoch: expect.any(String), sequence: expect.any(Number) },
    ]);
    await eventually(() => (ids.includes(id) ? true : undefined));
    // It becomes a dead letter of whoever takes it.
    await publishAsStranger(servers[0] ?? "", [{ subject, data: Buffer.from("forged"), headers: headers() }], ofEvent);
    await eventually(async () => {
      const state = await to?.describe();
      return state?.deadLetterCounts.get(subject.replaceAll(".", "_")) === 1 ? true : undefined;
    });
  }
  expect(await event?.retry(undefined)).toEqual({ retried: ways.length, isComplete: true });
  expect((await identity?.describe())?.consumers).toHaveLength(ways.length);

  const [speaker, ...listeners] = ["identity", "gateway", "webhook"].map((name) =>
    owner.own(connectNatsSignals(optionsOf(name))),
  );
  const heard = new Set<number>();
  for (const [index, listener] of listeners.entries()) listener.subscribe("test.word", () => heard.add(index));
  await eventually(() => {
    speaker?.publish("test.word", Buffer.from("word"));
    return heard.size === listeners.length ? true : undefined;
  });
  const entered = await connect({ ...access("gateway").access, servers });
  const closed: Error[] = [];
  for (const subject of ["daybook.>", ">"]) {
    entered.subscribe(subject, {
      callback: (error) => {
        if (error) closed.push(error);
      },
    });
  }
  await eventually(() => (closed.length === 2 ? true : undefined));
  await entered.close();
});
