/**
 * `npm run check`: everything that can be said of the code without running it. Runs all of it, and fails if any part
 * does.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The last release if there is one, else main, else nothing to break: a first commit. */
function findBreakingBase(): string | undefined {
  const git = (...words: string[]): string | undefined => {
    const result = spawnSync("git", words, { encoding: "utf8" });
    return result.status === 0 ? result.stdout.trim() : undefined;
  };
  const release = git("describe", "--tags", "--match", "v*", "--abbrev=0");
  const candidates = [release, "origin/main", "main", "HEAD"];
  return candidates.find((name) => name !== undefined && git("cat-file", "-e", `${name}:buf.yaml`) !== undefined);
}

function run(title: string, command: string, ...words: string[]): boolean {
  process.stdout.write(`\n${title}: ${command} ${words.join(" ")}\n`);
  return spawnSync(command, words, { stdio: "inherit" }).status === 0;
}

/** Generates code and RPC documents anew beside those that are committed, and compares the two. */
function checkGenerated(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "daybook-generated-"));
  try {
    return (
      run("generated code", "buf", "generate", "--output", folder) &&
      ["proto/gen", "docs/rpc"]
        .map((made) => run("generated code is committed", "diff", "-r", join(folder, made), made))
        .every(Boolean)
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const base = findBreakingBase();
const results = [
  run("format", "oxfmt", "--check"),
  run("lint", "oxlint", "--type-aware", "--deny-warnings"),
  run("types", "tsc", "--noEmit"),
  run("types of the dashboard", "tsc", "--noEmit", "--project", "gateway/dashboard/ui"),
  run("unused code", "knip"),
  run("contracts", "buf", "lint"),
  base === undefined || run("contracts stay compatible", "buf", "breaking", "--against", `.git#ref=${base}`),
  checkGenerated(),
];
const failed = results.filter((ok) => !ok).length;
process.stdout.write(failed === 0 ? "\nAll checks pass.\n" : `\n${failed} of ${results.length} checks failed.\n`);
process.exitCode = failed === 0 ? 0 : 1;
