/**
 * Starts a real Chromium: CHROMIUM_PATH, else one on PATH, else the one that the package @sparticuz/chromium carries
 * for Linux on x64, else Debian's, which root can install. Without one the run fails.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir, userInfo } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { chromium, type Browser } from "playwright-core";

interface Chromium {
  executablePath: string;
  env: Record<string, string>;
}

const installTimeoutMs = 300_000;
const names = ["chromium", "chromium-browser", "google-chrome"];

export async function startChromium(): Promise<Browser> {
  const { executablePath, env } = await findChromium();
  return chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    // Chromium's sandbox does not work for root.
    chromiumSandbox: userInfo().uid !== 0 && process.env.CHROMIUM_PATH !== undefined,
  });
}

async function findChromium(): Promise<Chromium> {
  const given = process.env.CHROMIUM_PATH;
  if (given !== undefined) return { executablePath: given, env: {} };
  return findOnPath() ?? (await unpackCarried()) ?? installDebians();
}

function findOnPath(): Chromium | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const executablePath = paths.find((path) => existsSync(path));
  return executablePath === undefined ? undefined : { executablePath, env: {} };
}

/** Unpacks once for each version and user. Others may unpack at the same time: a rename makes it whole at once. */
async function unpackCarried(): Promise<Chromium | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  const entry = createRequire(import.meta.url).resolve("@sparticuz/chromium");
  const { version } = createRequire(import.meta.url)(join(dirname(entry), "../package.json")) as { version: string };
  const folder = join(tmpdir(), `daybook-test-chromium-${version}-${userInfo().uid}`);
  if (!existsSync(folder)) {
    const next = `${folder}-${process.pid}`;
    await mkdir(next, { mode: 0o700 });
    // It unpacks into the folder for temporary files, and its libraries only where it takes the machine for a Lambda.
    const script = `import chromium, { inflate } from ${JSON.stringify(entry)};
      await chromium.executablePath();
      await inflate(${JSON.stringify(join(dirname(entry), "../bin/al2023.tar.br"))});`;
    const words = ["--input-type=module", "--eval", script];
    const { status, stderr } = spawnSync(process.execPath, words, { env: { ...process.env, TMPDIR: next } });
    if (status !== 0) throw new Error(`@sparticuz/chromium was not unpacked: ${String(stderr)}`);
    try {
      await rename(next, folder);
    } catch (error) {
      // Another process was first.
      await rm(next, { recursive: true, force: true });
      if (!existsSync(folder)) throw error;
    }
  }
  const executablePath = join(folder, "chromium");
  // Its own libraries only where the machine lacks some, and its fonts where there are none.
  const runs = spawnSync(executablePath, ["--version"]).status === 0;
  return {
    executablePath,
    env: {
      ...(!runs && { LD_LIBRARY_PATH: join(folder, "al2023/lib") }),
      ...(!existsSync("/etc/fonts/fonts.conf") && { FONTCONFIG_PATH: join(folder, "fonts") }),
    },
  };
}

function installDebians(): Chromium {
  const options = { timeout: installTimeoutMs, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  const update = ["apt-get", ["update"]] as const;
  const install = ["apt-get", ["install", "--yes", "--no-install-recommends", "chromium"]] as const;
  if (userInfo().uid === 0) for (const [command, words] of [update, install]) spawnSync(command, words, options);
  const found = findOnPath();
  if (!found) throw new Error(`no Chromium: install one of ${names.join(", ")}, or set CHROMIUM_PATH`);
  return found;
}
