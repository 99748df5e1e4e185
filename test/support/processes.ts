/** Real processes of Daybook, started and stopped as an operator would. */
import { spawn, type ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Closable } from "#shared/process/lifecycle.ts";

/** A process that was started. */
export interface RunningProcess extends Closable {
  child: ChildProcess;
  /** What it has written so far. */
  output: () => string;
  /** Resolves with what ended it. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const stopTimeoutMs = 20_000;

/** Where Node keeps what it makes of the sources, which halves the time of a start. */
export const compileCacheFolder = join(tmpdir(), "daybook-test-compile-cache");

/** What every process is given of the environment. */
export const inheritedEnv = {
  PATH: process.env.PATH ?? "",
  HOME: process.env.HOME ?? "",
  NODE_COMPILE_CACHE: compileCacheFolder,
  // Nobody balances over the processes of tests.
  SHUTDOWN_DELAY_MS: "0",
};

/** Starts `node` with a file of this project. Closing sends SIGTERM, then SIGKILL. */
export function startNode(file: string, env: Record<string, string>): RunningProcess {
  const child = spawn(process.execPath, [file], {
    env: { ...inheritedEnv, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const ended: RunningProcess["ended"] = new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  return {
    child,
    output: () => output,
    ended,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const killer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      await ended;
      clearTimeout(killer);
    },
  };
}

/** Waits until `check` gives a value, or throws with the last error or with `explain`. */
export async function eventually<T>(
  check: () => Promise<T | undefined> | T | undefined,
  { timeoutMs = 30_000, explain = (): string => "it did not happen" } = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let failure: unknown;
    try {
      const value = await check();
      if (value !== undefined) return value;
    } catch (error) {
      failure = error;
    }
    if (Date.now() > deadline) throw new Error(`after ${timeoutMs} ms: ${explain()}`, { cause: failure });
    await sleep(20);
  }
}

// Below the ports that systems give to outgoing connections, any of which may take one between the look and the use. Each worker of a run has a
// part of them to itself, and goes through it from place to place: no port is told twice while its first taker gets ready to listen.
const portMin = 12_000;
const portsOfWorker = 5_000;
const workers = 4;
const firstPort = portMin + portsOfWorker * (Number(process.env.VITEST_POOL_ID ?? 0) % workers);
let nextPort = randomInt(portsOfWorker);

/** A TCP port that nobody listens on, and that is told to nobody else. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + nextPort;
    nextPort = (nextPort + 1) % portsOfWorker;
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
