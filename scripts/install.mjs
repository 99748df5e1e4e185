// Installs the dependencies when they are missing or older than the lock file. Plain JavaScript, for the stock Node
// that npm runs on.
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";

const modifiedMs = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

// npm writes this file last.
if (modifiedMs("node_modules/.package-lock.json") < modifiedMs("package-lock.json")) {
  process.stderr.write("Installing the dependencies …\n");
  const { status } = spawnSync("npm", ["ci", "--loglevel=error"], { stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
// The Node that runs everything is an optional dependency for each platform, so npm goes on without one that is missing
// or is not what the lock file says.
if (modifiedMs("node_modules/.bin/node") === 0) {
  const platform = `${process.platform} on ${process.arch}`;
  process.stderr.write(
    `The pinned Node for ${platform} was not installed. There is one for Linux and macOS on x64 and arm64: run npm ci to see why.\n`,
  );
  process.exit(1);
}
