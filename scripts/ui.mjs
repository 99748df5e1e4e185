// Builds the dashboard's browser part when there is none or its sources changed. Plain JavaScript, for the stock Node that
// npm runs on. With --required a failed build ends with an error; else Daybook starts without a dashboard.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = "gateway/dashboard/ui";
const built = join(folder, "dist");
const mark = join(built, "sources.sha256");
const isRequired = process.argv.includes("--required");

function* filesIn(path) {
  for (const name of readdirSync(path)
    .map((entry) => join(path, entry))
    .toSorted()) {
    if (statSync(name).isDirectory()) {
      if (name !== built && !name.startsWith(`${built}-`)) yield* filesIn(name);
    } else if (!/\.(?:md|test\.ts)$/.test(name)) yield name;
  }
}

// Times of files change with every clone and copy; their contents do not.
function hashSources() {
  const hash = createHash("sha256");
  const single = ["package-lock.json", "scripts/ui.vite.ts", "gateway/oauth/scope-words.ts"];
  for (const name of [...single, ...filesIn(folder), ...filesIn("proto/gen")]) {
    hash.update(name).update("\0").update(readFileSync(name)).update("\0");
  }
  return hash.digest("hex");
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

const sources = hashSources();
if (read(mark) !== sources) {
  process.stderr.write("Building the dashboard …\n");
  // Beside it and then in its place: a gateway that runs meanwhile never serves half of a build.
  const next = `${built}-${process.pid}`;
  const vite = ["node_modules/vite/bin/vite.js", "build", "--config", "scripts/ui.vite.ts", "--logLevel", "warn"];
  const options = {
    stdio: ["ignore", 2, 2],
    env: { ...process.env, NODE_ENV: "production", UI_OUT: `../../../${next}` },
  };
  const { status, error } = spawnSync("node_modules/.bin/node", vite, options);
  if (status === 0) {
    mkdirSync(next, { recursive: true });
    writeFileSync(join(next, "sources.sha256"), sources);
    rmSync(built, { recursive: true, force: true });
    renameSync(next, built);
  } else {
    rmSync(next, { recursive: true, force: true });
    process.stderr.write(
      `The dashboard was not built${error ? `: ${error.message}` : ""}. Build it with: npm run build\n`,
    );
    if (isRequired) process.exit(status || 1);
    process.stderr.write("Daybook starts without it.\n");
  }
}
