/** Signals over a real PostgreSQL: who hears them, whose are not heard, and that they come again after an outage. */
import pg from "pg";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { connectPostgresSignals } from "#shared/bus/postgres-signals.ts";
import { createSignatures } from "#shared/bus/signatures.ts";
import type { Signals } from "#shared/bus/signals.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { createDatabase } from "../support/database.ts";
import { eventually } from "../support/processes.ts";

const subject = "test.word";
const token = "a token of the signals of this test";
const stranger = createSignatures("a token that nobody else in this test has");

let owner: Owner;
let url: string;
let database: pg.Client;

beforeEach(async () => {
  owner = new Owner();
  ({ url } = owner.own(await createDatabase(inject("databaseUrl"))));
  database = new pg.Client({ connectionString: url });
  await database.connect();
  owner.defer(() => database.end());
});
afterEach(() => owner.close());

interface Listener {
  signals: Signals;
  heard: string[];
  metric(name: string): Promise<number | undefined>;
  connected(isConnected?: boolean): Promise<void>;
}

function listen(signatures = createSignatures(token)): Listener {
  const registry = createRegistry();
  const signals = connectPostgresSignals({ url, signatures, log: createLog("test", "silent"), registry });
  owner.own(signals);
  const heard: string[] = [];
  signals.subscribe(subject, (payload) => heard.push(Buffer.from(payload).toString()));
  const metric = async (name: string): Promise<number | undefined> =>
    (await registry.getSingleMetric(`daybook_signals_${name}`)?.get())?.values[0]?.value;
  const connected = async (isConnected = true): Promise<void> => {
    await eventually(async () => ((await metric("connected")) === (isConnected ? 1 : 0) ? true : undefined));
  };
  return { signals, heard, metric, connected };
}

const say = ({ signals }: Listener, word: string): void => signals.publish(subject, Buffer.from(word));
const hears = ({ heard }: Listener, word: string) => eventually(() => (heard.includes(word) ? true : undefined));
const notify = (notice: string) => database.query("SELECT pg_notify('daybook_signals', $1)", [notice]);

test("each listener hears a signal once, its sender at once, and nobody another subject", async () => {
  const [one, other] = [listen(), listen()];
  await Promise.all([one.connected(), other.connected()]);
  say(one, "first");
  expect(one.heard).toEqual(["first"]);
  one.signals.publish("test.other", Buffer.from("nobody"));
  say(one, "ü ".repeat(341));
  await hears(other, "ü ".repeat(341));
  expect(other.heard).toEqual(["first", "ü ".repeat(341)]);
  expect(one.heard).toHaveLength(2);
});

test("what is not signed with the token is not heard, and counted", async () => {
  const [one, other] = [listen(), listen()];
  await Promise.all([one.connected(), other.connected()]);
  const payload = Buffer.from("forged");
  const text = payload.toString("base64");
  const own = createSignatures(token);
  const forged = [
    "",
    "nonsense",
    `me ${subject} ${stranger.make(subject, payload)} ${text}`,
    `me ${subject} ${own.make("test.other", payload)} ${text}`,
    `me ${subject} ${own.make(subject, Buffer.from("else"))} ${text}`,
    `me ${subject} ${"0".repeat(60)} ${text}`,
    "x".repeat(7_999),
  ];
  for (const notice of forged) await notify(notice);
  say(other, "good");
  await hears(one, "good");
  expect(one.heard).toEqual(["good"]);
  expect(await one.metric("unsigned_total")).toBe(forged.length);
});

test("a signal is heard of those with the token before, while tokens change", async () => {
  const [old, both] = [listen(), listen(createSignatures("the next token of the signals of this test", token))];
  await Promise.all([old.connected(), both.connected()]);
  say(old, "old");
  await hears(both, "old");
  say(both, "new");
  await eventually(async () => ((await old.metric("unsigned_total")) === 1 ? true : undefined));
  expect(old.heard).toEqual(["old"]);
});

test("listeners come back after the database has ended their connections", async () => {
  const [one, other] = [listen(), listen()];
  for (const word of ["first", "second"]) {
    await Promise.all([one.connected(), other.connected()]);
    say(one, word);
    await hears(other, word);
    const ended = await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'daybook-signals' AND datname = current_database()",
    );
    expect(ended.rowCount).toBe(2);
    await Promise.all([one.connected(false), other.connected(false)]);
  }
  say(one, "lost");
  await Promise.all([one.connected(), other.connected()]);
  say(one, "third");
  await hears(other, "third");
  expect(other.heard).toEqual(["first", "second", "third"]);
});

test("a handler that fails keeps nothing from the others, and a closed listener hears nothing", async () => {
  const [one, other] = [listen(), listen()];
  other.signals.subscribe(subject, () => {
    throw new Error("no");
  });
  await Promise.all([one.connected(), other.connected()]);
  say(one, "first");
  await hears(other, "first");
  await other.signals.close();
  const { rows } = await database.query(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'daybook-signals' AND datname = current_database()",
  );
  expect(rows[0].count).toBe(1);
  expect(() => one.signals.publish(subject, new Uint8Array(1025))).toThrow(RangeError);
});
