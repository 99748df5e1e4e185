/** Builds the image of Daybook without a registry of images: from packages of Debian, and the Node that runs this. */
import { execFile } from "node:child_process";
import { copyFile, cp, mkdir, realpath, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Podman } from "./podman.ts";

const run = promisify(execFile);
const suite = "bookworm";
// A libc, what Node links to, and a shell and tools for the stores.
const packages = ["base-files", "libc6", "libc-bin", "libstdc++6", "libatomic1", "dash", "coreutils"];

/** Names of the images. */
export const baseImage = "localhost/base:test";
export const daybookImage = "localhost/daybook:test";
const nodeImage = "localhost/node:test";

/** Node with npm, as the official image has it. npm takes packages from the cache of this machine. */
const nodeDockerfile = `
FROM ${baseImage}
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ["ln", "-s", "../lib/node_modules/npm/bin/npm-cli.js", "/usr/local/bin/npm"]
ENV npm_config_cache=/npm-cache npm_config_prefer_offline=true NODE_EXTRA_CA_CERTS=/ca-certificates.crt
`;

/** Makes all images, with nothing kept from a run before. */
export async function buildImages({ folder, podman, buildah }: Podman): Promise<void> {
  const context = join(folder, "node");
  await mkdir(context);
  await Promise.all([importBase(folder, podman), fillContext(context)]);
  const build = ["build", "--runtime", "runc", "--pull=never"];
  await buildah(...build, "--tag", nodeImage, context);
  const cache = join(homedir(), ".npm");
  await mkdir(cache, { recursive: true });
  const authorities = process.env.NODE_EXTRA_CA_CERTS ?? "/etc/ssl/certs/ca-certificates.crt";
  const machine = ["--network", "host", "--volume", `${cache}:/npm-cache`];
  const images = ["--build-arg", `NODE_IMAGE=${nodeImage}`, "--build-arg", `BASE_IMAGE=${baseImage}`];
  const file = ["--file", "deploy/docker/Dockerfile", "--tag", daybookImage, "."];
  await buildah(...build, ...machine, "--volume", `${authorities}:/ca-certificates.crt:ro`, ...images, ...file);
}

async function importBase(folder: string, podman: Podman["podman"]): Promise<void> {
  const archive = join(folder, "base.tar");
  const hook = "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr";
  await run("mmdebstrap", ["--variant=extract", hook, `--include=${packages.join()}`, suite, archive]);
  await podman("import", "--quiet", archive, baseImage);
}

async function fillContext(context: string): Promise<void> {
  const npm = dirname(dirname(await realpath(await findOnPath("npm"))));
  await Promise.all([
    copyFile(await realpath(process.execPath), join(context, "node")),
    cp(npm, join(context, "npm"), { recursive: true }),
    writeFile(join(context, "Dockerfile"), nodeDockerfile),
  ]);
}

async function findOnPath(program: string): Promise<string> {
  const { stdout } = await run("which", [program]);
  return stdout.trim();
}
