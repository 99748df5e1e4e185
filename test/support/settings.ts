/** Asks a process of Daybook which settings it reads, and which of those that it is given are wrong. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Readable } from "node:stream";
import { inheritedEnv } from "./processes.ts";

const recorder = join(import.meta.dirname, "read-settings.process.ts");
const wrong = "none";
const complaint = "PORT must be a whole number from 0 to 65535";

interface SettingsRead {
  names: ReadonlySet<string>;
  problems: string[];
}

const known = new Map<string, Promise<SettingsRead>>();

/** As below, once for the same settings: a process takes a second to start. */
export function readSettingsOf(file: string, env: Record<string, string>): Promise<SettingsRead> {
  const key = JSON.stringify([file, env]);
  const found = known.get(key) ?? startWith(file, env);
  known.set(key, found);
  return found;
}

/**
 * Starts a process with settings, of which PORT is wrong, so that it reads all of them, says what is wrong, and ends.
 * @returns the names that it reads, and what it says of settings besides PORT.
 */
async function startWith(file: string, env: Record<string, string>): Promise<SettingsRead> {
  const { PATH, NODE_COMPILE_CACHE } = inheritedEnv;
  const child = spawn(process.execPath, ["--import", recorder, file], {
    env: { PATH, NODE_COMPILE_CACHE, ...env, PORT: wrong },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const [said, read] = await Promise.all([text(child.stderr as Readable), text(child.stdio[3] as Readable)]);
  const problems = said.split("\n").map((line) => line.trim());
  if (!problems.includes(complaint)) throw new Error(`${file} does not read PORT: ${said}`);
  const others = problems.filter((line) => line !== "" && line !== complaint && !line.endsWith("not usable:"));
  return { names: new Set(JSON.parse(read) as string[]), problems: others };
}
