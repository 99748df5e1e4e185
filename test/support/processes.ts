/** Starts and stops real Daybook processes, as an operator would. */
import { spawn, type ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Closable } from "#shared/process/lifecycle.ts";

export interface RunningProcess extends Closable {
  child: ChildProcess;
  /** Output so far. */
  output: () => string;
  /** Resolves with its exit code or signal. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const stopTimeoutMs = 20_000;

/** Node's compile cache, which halves the start time. */
export const compileCacheFolder = join(tmpdir(), "daybook-test-compile-cache");

/** Environment of every process. */
export const inheritedEnv = {
  PATH: process.env.PATH ?? "",
  HOME: process.env.HOME ?? "",
  NODE_COMPILE_CACHE: compileCacheFolder,
  // No load balancer needs a delay in tests.
  SHUTDOWN_DELAY_MS: "0",
};

/** Starts `node` with a file of this project. `close` sends SIGTERM, then SIGKILL. */
export function startNode(file: string, env: Record<string, string>, words: readonly string[] = []): RunningProcess {
  return startProgram(process.execPath, [file, ...words], env);
}

/** The same for a program of any kind. */
export function startProgram(program: string, words: readonly string[], env: Record<string, string>): RunningProcess {
  const child = spawn(program, words, {
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

/** Waits until `check` returns a value. @throws the last error, or one with `explain`, on timeout. */
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

// Below the ephemeral ports, because an outgoing connection may take one between check and use. Each worker of a run
// goes through a range of its own, so that no port is returned twice while its first user starts.
const portMin = 12_000;
const portsOfWorker = 5_000;
const workers = 4;
const firstPort = portMin + portsOfWorker * (Number(process.env.VITEST_POOL_ID ?? 0) % workers);
let nextPort = randomInt(portsOfWorker);

/** A free TCP port that no other call returns. */
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
