/** `npm start` is stopped by whoever started it: a supervisor that knows npm's process alone, or a terminal. */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { eventually, freePort } from "../support/processes.ts";

let owner: Owner;
let dataDir: string;

beforeEach(async () => {
  owner = new Owner();
  dataDir = await mkdtemp(join(tmpdir(), "daybook-stop-"));
  owner.defer(() => rm(dataDir, { recursive: true, force: true }));
});
afterEach(() => owner.close());

const ways: [name: string, stop: (npmPid: number) => void][] = [
  ["SIGTERM of npm", (pid) => process.kill(pid, "SIGTERM")],
  // A terminal signals the whole process group, and npm passes on what it gets.
  ["Ctrl+C", (pid) => process.kill(-pid, "SIGINT")],
  [
    "Ctrl+C again and again",
    (pid) => {
      for (let time = 0; time < 3; time++) process.kill(-pid, "SIGINT");
    },
  ],
];

test.each(ways)(
  "%s stops the server, and its database in order",
  async (_name, stop) => {
    const ports = { PORT: String(await freePort()), INTERNAL_PORT: String(await freePort()) };
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir, ...ports };
    // What its pre script would install the tests have installed; a group of its own, as a terminal makes one.
    const npm = spawn("npm", ["start", "--ignore-scripts"], { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const { pid = 0 } = npm;
    let output = "";
    for (const stream of [npm.stdout, npm.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
    const ended = new Promise<void>((resolve) => npm.once("exit", () => resolve()));
    owner.defer(async () => {
      const server = Number(await readFile(join(dataDir, "daybook.pid"), "utf8").catch(() => "0"));
      if (server > 0) process.kill(server, "SIGKILL");
    });
    await eventually(() => (/^curl /m.test(output) ? true : undefined), { timeoutMs: 90_000, explain: () => output });

    stop(pid);
    await ended;
    // Neither the server nor its database holds the folder any more.
    await eventually(
      async () => {
        const left = new Set([...(await readdir(dataDir)), ...(await readdir(join(dataDir, "postgres")))]);
        return left.has("daybook.pid") || left.has("postmaster.pid") ? undefined : true;
      },
      { explain: () => `it goes on: ${output}` },
    );
    const log = await readFile(join(dataDir, "postgres.log"), "utf8");
    expect(log.trimEnd().split("\n").at(-1)).toContain("database system is shut down");
  },
  150_000,
);
