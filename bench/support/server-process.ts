/** Runs servers under load, each as a process. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Closable } from "#shared/process/lifecycle.ts";

/** A listening server. */
export interface ServerProcess extends Closable {
  /** Such as `http://127.0.0.1:8080`. */
  address: string;
  /** CPU time of the process so far, in seconds, user and system. */
  cpuSeconds: () => Promise<number>;
}

const startTimeoutMs = 60_000;
const stopTimeoutMs = 20_000;
const answerTimeoutMs = 5_000;
const cpuReporter = join(import.meta.dirname, "cpu.process.ts");

/**
 * Starts a server and waits until it prints `ready at <address>`. Its stderr is shown.
 * @param file absolute path of its code.
 * @param env added to the bench's environment.
 */
export async function startServer(
  file: string,
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<ServerProcess> {
  signal.throwIfAborted();
  const child = fork(file, {
    execArgv: ["--import", cpuReporter],
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    // In a process group of its own, so that Ctrl+C reaches only the bench, which closes all in order.
    detached: true,
  });
  const close = (): Promise<void> => stop(child);
  try {
    const address = await readAddress(child, file, AbortSignal.any([signal, AbortSignal.timeout(startTimeoutMs)]));
    return { address, close, cpuSeconds: () => readCpu(child) };
  } catch (error) {
    await close();
    throw error;
  }
}

function readAddress(child: ChildProcess, file: string, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let output = "";
  let isReady = false;
  child.stdout?.on("data", (chunk: Buffer) => {
    if (isReady) return;
    output += chunk.toString();
    const address = /ready at (http:\/\/\S+)/.exec(output)?.[1];
    if (address === undefined) return;
    isReady = true;
    resolve(address);
  });
  child.once("error", reject);
  child.once("exit", () => reject(new Error(`${file} ended before it was ready`)));
  signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  return promise;
}

async function readCpu(child: ChildProcess): Promise<number> {
  const answer = once(child, "message", { signal: AbortSignal.timeout(answerTimeoutMs) });
  child.send("cpu");
  const [{ user, system }] = (await answer) as [NodeJS.CpuUsage];
  return (user + system) / 1_000_000;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
  await exit;
  clearTimeout(timer);
}
