import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { afterAll, expect, test } from "vitest";
import { ConfigError, readSettings } from "../../process/config.ts";
import { readOptionalNatsSettings, type NatsSettings } from "./settings.ts";

const folder = mkdtempSync(join(tmpdir(), "daybook-nats-settings-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

const read = (env: NodeJS.ProcessEnv): NatsSettings | undefined => readSettings(env, readOptionalNatsSettings);

function problemsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError) return [...error.problems];
    throw error;
  }
  return [];
}

const seedOf = (pair: { getSeed(): Uint8Array }): string => new TextDecoder().decode(pair.getSeed());
const userSeed = seedOf(nkeys.createUser());

const answerTo = (settings: NatsSettings | undefined): object => {
  const authenticator = settings?.access?.authenticator;
  return (typeof authenticator === "function" && authenticator("nonce")) || {};
};

test("addresses come without their credentials, which are decoded and are for all of them", () => {
  const settings = read({ NATS_URL: "nats://us%40er:p%3A%2Cw%25@one:4223, nats://two" });
  expect(settings?.servers).toEqual(["nats://one:4223", "nats://two"]);
  expect(answerTo(settings)).toEqual({ user: "us@er", pass: "p:,w%" });
  expect(answerTo(read({ NATS_URL: "nats://to%2Fken@one" }))).toEqual({ auth_token: "to/ken" });
  expect(read({ NATS_URL: "nats://one" })?.access).toEqual({});
  expect(read({})).toBeUndefined();
});

test("seeds are taken from the setting or from a file", () => {
  for (const env of [{ NATS_NKEY: userSeed }, { NATS_NKEY_FILE: write("seed", `${userSeed}\n`) }]) {
    expect(answerTo(read({ NATS_URL: "nats://one", ...env }))).toMatchObject({ nkey: expect.stringMatching(/^U/) });
  }
});

test("everything that is wrong is said at once, and no secret is repeated", () => {
  const accountSeed = seedOf(nkeys.createAccount());
  const missing = join(folder, "missing");
  const secrets = ["hunter22", "hunter33", accountSeed, "tttt"];
  const problems = problemsOf({
    NATS_URL: "nats://ada:hunter22@one,nats://ada:hunter33@127.0.0.1",
    NATS_CREDS: write("creds", "tttt"),
    NATS_NKEY: accountSeed,
    NATS_NKEY_FILE: missing,
    NATS_TLS_CA: write("ca.pem", "tttt"),
    NATS_TLS_CERT: missing,
    NATS_REPLICAS: "2",
  });
  expect(problems).toEqual([
    "NATS_URL must have the same credentials in all of its addresses",
    "NATS_CREDS must name a credentials file with a user JWT and its NKEY seed",
    "NATS_NKEY must be the seed of a user NKEY: it starts with SU",
    `NATS_NKEY_FILE names a file that cannot be read: ${missing} (ENOENT)`,
    "only one way to authenticate with NATS can be set, " +
      "but there are the credentials in NATS_URL, NATS_CREDS, NATS_NKEY",
    `NATS_TLS_CERT names a file that cannot be read: ${missing} (ENOENT)`,
    "NATS_TLS_CERT and NATS_TLS_KEY must be set together",
    "NATS_URL must name servers by host name when TLS is used, because certificates are checked by name",
    "NATS_TLS_CA must name a file with certificates in PEM",
    "NATS_REPLICAS must be 1, 3, 5",
  ]);
  for (const secret of secrets) expect(problems.join("\n")).not.toContain(secret);
});

test.each([
  ["nats://%zz:a@one", "NATS_URL must have its user and password percent-encoded: %25 stands for a percent sign"],
  ["nats://:secret@one", "NATS_URL has a password without a user"],
  [
    "tls://127.0.0.1",
    "NATS_URL must name servers by host name when TLS is used, because certificates are checked by name",
  ],
  [
    "tls://[::1]:4222",
    "NATS_URL must name servers by host name when TLS is used, because certificates are checked by name",
  ],
  ["http://one", "NATS_URL must be an address that starts with nats: or tls:"],
])("NATS_URL=%s is refused", (url, problem) => {
  expect(problemsOf({ NATS_URL: url })).toEqual([problem]);
});
