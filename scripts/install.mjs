// Installs the dependencies when they are missing or older than the lock file. Plain JavaScript, for the stock Node that npm runs on.
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";

const modifiedMs = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

// npm writes this file last.
if (modifiedMs("node_modules/.package-lock.json") < modifiedMs("package-lock.json")) {
  process.stderr.write("Installing the dependencies …\n");
  const { status } = spawnSync("npm", ["ci", "--loglevel=error"], { stdio: ["ignore", 2, 2] });
  process.exit(status ?? 1);
}
