/**
 * Runs a real nats-server: from PATH, else the pinned release with its checksum, else Debian's. Without one the run
 * fails.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jetstream, jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import { connect, headers, type Msg, type MsgHdrs, type NodeConnectionOptions } from "@nats-io/transport-node";
import type { Closable } from "#shared/process/lifecycle.ts";
import { signatureHeader, type Signer } from "#shared/bus/nats/signature.ts";
import { eventually, freePort } from "./processes.ts";
import { shuffled } from "./random.ts";

/** A running server with JetStream. */
export interface NatsServer extends Closable {
  url: string;
}

const version = "2.10.10";
const downloadTimeoutMs = 60_000;
// SHA-256 of the archives of the release.
const checksums: Readonly<Record<string, string>> = {
  "linux-amd64": "c8cd7e19b906a5f8a7f9f7e70fc4bfa492d66a069d9664c4db19fdee1b6aa640",
  "darwin-amd64": "5b6bfed8f75ecb2f6465b87334f4e757a66c32b6c5f802e964a080a3716ffffb",
  "darwin-arm64": "8af6cbd8f3f21bcec164d17bc879d3e7807cd98e1c7839ac668986a71c4e52c6",
};

/**
 * Starts a server with its streams in `folder`.
 * @param entering how clients connect, if the server requires authentication.
 */
export async function startNats(
  folder: string,
  wantedPort?: number,
  words: string[] = [],
  entering: NodeConnectionOptions = {},
): Promise<NatsServer> {
  await mkdir(folder, { recursive: true });
  const binary = await findBinary(folder);
  const port = wantedPort ?? (await freePort());
  const listen = ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", folder];
  const server = spawn(binary, [...listen, ...words], { stdio: "ignore" });
  const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  const url = `nats://127.0.0.1:${port}`;
  await eventually(
    async () => {
      const connection = await connect({ servers: url, ...entering, reconnect: false, timeout: 1000 });
      await connection.close();
      return true;
    },
    { explain: () => `nats-server does not answer at ${url}` },
  );
  return {
    url,
    async close() {
      server.kill("SIGTERM");
      await ended;
    },
  };
}

/** Sends a message from outside Daybook; with a signer, as someone who knows the internal token. */
export async function sendAsStranger(
  url: string,
  subject: string,
  payload: Uint8Array,
  signer?: Signer,
  times = 1,
): Promise<void> {
  const connection = await connect({ servers: url });
  const given = signer?.sign(subject, payload) ?? headers();
  for (let time = 0; time < times; time++) connection.publish(subject, payload, { headers: given });
  await connection.drain();
}

/** Starts a cluster of three servers and waits until it has a leader. The map is by server name. */
export async function startNatsCluster(folder: string): Promise<{ servers: Map<string, NatsServer>; urls: string[] }> {
  const names = ["one", "two", "three"];
  const ports = await Promise.all(names.map(() => freePort()));
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(",");
  const servers = await Promise.all(
    names.map(async (name, index): Promise<[string, NatsServer]> => {
      const cluster = ["--cluster_name", "test", "--cluster", `nats://127.0.0.1:${ports[index]}`, "--routes", routes];
      return [name, await startNats(join(folder, name), undefined, ["-n", name, ...cluster])];
    }),
  );
  const urls = servers.map(([, { url }]) => url);
  await eventually(
    () =>
      asking(urls, async (manager) => {
        await manager.getAccountInfo();
        return true;
      }),
    { explain: () => "the cluster has no leader" },
  );
  return { servers: new Map(servers), urls };
}

async function asking<T>(servers: string[], ask: (manager: JetStreamManager) => Promise<T>): Promise<T> {
  const connection = await connect({ servers });
  try {
    return await ask(await jetstreamManager(connection, { checkAPI: false }));
  } finally {
    await connection.close();
  }
}

/** The stream's leader, its number of replicas, and how many besides the leader are current. */
export function describeStream(
  servers: string[],
): Promise<{ leader: string; replicas: number; current: number; created: string }> {
  return asking(servers, async (manager) => {
    const { cluster, config, created } = await manager.streams.info("daybook");
    const current = (cluster?.replicas ?? []).filter((replica) => replica.current).length;
    return { leader: cluster?.leader ?? "", replicas: config.num_replicas, current, created };
  });
}

/** Deletes all but the first message of a subject. @returns how many. */
export function deleteAllButFirst(url: string, subject: string): Promise<number> {
  return asking([url], async (manager) => {
    const { state } = await manager.streams.info("daybook");
    const found: number[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      if ((await manager.streams.getMessage("daybook", { seq }))?.subject === subject) found.push(seq);
    }
    for (const seq of found.slice(1)) await manager.streams.deleteMessage("daybook", seq);
    return found.length - 1;
  });
}

/** Adds a dead letter of a consumer, as if it had failed. Without a signer it is forged. */
export async function publishDeadLetter(
  url: string,
  signer: Signer | undefined,
  letter: { consumer: string; id: string; subject: string; payload: Uint8Array },
): Promise<void> {
  const connection = await connect({ servers: url });
  try {
    const given = signer?.sign(letter.subject, letter.payload) ?? headers();
    given.set("Daybook-Subject", letter.subject);
    given.set("Daybook-Message-Id", letter.id);
    given.set("Daybook-Consumer", letter.consumer);
    given.set("Daybook-Reason", "it was put there by a test");
    given.set("Daybook-Deliveries", "10");
    given.set("Daybook-Time", new Date().toISOString());
    await jetstream(connection).publish(`daybook.dead.${letter.consumer}`, letter.payload, { headers: given });
  } finally {
    await connection.close();
  }
}

/** Number of stored messages of a subject. */
export function countKept(url: string, subject: string): Promise<number> {
  return asking([url], async (manager) => {
    const { state } = await manager.streams.info("daybook", { subjects_filter: subject });
    return state.subjects?.[subject] ?? 0;
  });
}

/** All consumers of a server. */
export function listConsumers(url: string): Promise<{ name: string; subject: string; redelivered: number }[]> {
  return asking([url], async (manager) => {
    const consumers = [];
    for await (const { name, config, num_redelivered: redelivered } of manager.consumers.list("daybook")) {
      consumers.push({ name, subject: config.filter_subject ?? ">", redelivered });
    }
    return consumers;
  });
}

/** Captures the first message of each subject. @returns what was captured so far, and a function that stops this. */
export async function captureMessages(
  url: string,
): Promise<{ captured: ReadonlyMap<string, Msg>; stop: () => Promise<void> }> {
  const connection = await connect({ servers: url });
  const captured = new Map<string, Msg>();
  connection.subscribe("daybook.>", {
    callback: (_error, message) => {
      if (!captured.has(message.subject)) captured.set(message.subject, message);
    },
  });
  await connection.flush();
  return { captured, stop: () => connection.drain() };
}

/** Publishes messages to the stream, each under a new id unless it has one. */
export async function publishAsStranger(
  url: string,
  messages: readonly { subject: string; data: Uint8Array; headers: MsgHdrs; id?: string }[],
  entering: NodeConnectionOptions = {},
): Promise<void> {
  const connection = await connect({ ...entering, servers: url });
  const client = jetstream(connection);
  for (const { subject, data, headers: given, id = randomUUID() } of messages) {
    await client.publish(subject, data, { headers: given, msgID: id });
  }
  await connection.close();
}

const repeatHeader = "Test-Repeat";

/**
 * Republishes every message of a subject repeatedly and out of order, as if publishers had crashed before the
 * acknowledgement. Each copy has a new id, so that the server does not drop it as a duplicate.
 * @returns a function that stops this.
 */
export async function repeatMessages(url: string, subject: string, times: number): Promise<() => Promise<number>> {
  const connection = await connect({ servers: url });
  const client = jetstream(connection);
  const kept: Msg[] = [];
  let repeated = 0;
  const publishing: Promise<unknown>[] = [];
  const repeatSome = (): void => {
    for (const [at, message] of shuffled(kept.splice(0)).entries()) {
      const given = headers();
      given.set(repeatHeader, "1");
      given.set(signatureHeader, message.headers?.get(signatureHeader) ?? "");
      publishing.push(client.publish(subject, message.data, { headers: given, msgID: `repeat ${repeated++} ${at}` }));
    }
  };
  const subscription = connection.subscribe(subject);
  const reading = (async () => {
    for await (const message of subscription) {
      if (message.headers?.has(repeatHeader)) continue;
      for (let time = 0; time < times; time++) kept.push(message);
    }
  })();
  const timer = setInterval(repeatSome, 200);
  return async () => {
    clearInterval(timer);
    await subscription.drain();
    await reading;
    repeatSome();
    await Promise.all(publishing);
    await connection.close();
    return repeated;
  };
}

async function findBinary(folder: string): Promise<string> {
  const isUsable = (binary: string): boolean => spawnSync(binary, ["--version"]).status === 0;
  if (isUsable("nats-server")) return "nats-server";
  const failures: string[] = [];
  try {
    return await download(folder);
  } catch (error) {
    failures.push(`download: ${error instanceof Error ? error.message : String(error)}`);
  }
  for (const words of [["update"], ["install", "-y", "--no-install-recommends", "nats-server"]]) {
    const result = spawnSync("apt-get", ["-qq", ...words], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    if (result.status !== 0) failures.push(`apt-get ${words[0]}: ${result.stderr || String(result.error)}`);
  }
  if (isUsable("nats-server")) return "nats-server";
  throw new Error(`The tests need a nats-server, or NATS_URL:\n${failures.join("\n")}`);
}

async function download(folder: string): Promise<string> {
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const checksum = checksums[platform];
  if (checksum === undefined) throw new Error(`there is no pinned release for ${platform}`);
  const name = `nats-server-v${version}-${platform}`;
  const url = `https://github.com/nats-io/nats-server/releases/download/v${version}/${name}.tar.gz`;
  const response = await fetch(url, { signal: AbortSignal.timeout(downloadTimeoutMs) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const archive = Buffer.from(await response.arrayBuffer());
  const actual = createHash("sha256").update(archive).digest("hex");
  if (actual !== checksum) throw new Error(`${url} has the checksum ${actual}`);
  const file = join(folder, "nats-server.tar.gz");
  await writeFile(file, archive);
  if (spawnSync("tar", ["-xzf", file, "-C", folder]).status !== 0) throw new Error(`${file} cannot be unpacked`);
  const binary = join(folder, name, "nats-server");
  await chmod(binary, 0o755);
  return binary;
}

/** Stored messages as Latin-1 text, in which ASCII can be searched. */
export function readKept(url: string): Promise<{ subject: string; text: string }[]> {
  return asking([url], async (manager) => {
    const { state } = await manager.streams.info("daybook");
    const kept: { subject: string; text: string }[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await manager.streams.getMessage("daybook", { seq });
      if (message) kept.push({ subject: message.subject, text: Buffer.from(message.data).toString("latin1") });
    }
    return kept;
  });
}
