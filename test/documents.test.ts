/**
 * The documents: what they link to and name is there, the settings are complete, and lines are short enough to read.
 */
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { webhookTypes } from "#shared/values/webhook-types.ts";

const folders = ["bench", "deploy", "docs", "gateway", "proto", "scripts", "services", "test"];
const lineLengthMax = 120;
let texts: ReadonlyMap<string, string>;
/** Every file and folder of the project. */
let paths: ReadonlySet<string>;

beforeAll(async () => {
  const found = await Promise.all(
    folders.map(async (folder) => (await readdir(folder, { recursive: true })).map((name) => join(folder, name))),
  );
  const top = (await readdir(".", { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name);
  paths = new Set([...top, ...folders, ...found.flat()]);
  const pages = [...paths].filter((path) => path.endsWith(".md"));
  texts = new Map(await Promise.all(pages.map(async (page) => [page, await readFile(page, "utf8")] as const)));
});

/** Pages that people write; the others are made of the contracts. */
function written(): [string, string][] {
  return [...texts].filter(([page]) => !page.startsWith("docs/rpc/"));
}

/** The anchor that a heading has. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, "")
    .replaceAll(" ", "-");
}

test("every picture that a document shows is there, and every picture is shown", () => {
  const shown = [...texts].flatMap(([page, text]) =>
    [...text.matchAll(/ (?:src|srcset)="([^"]+)"/g)].map(([, file = ""]) => join(dirname(page), file)),
  );
  const pictures = [...paths].filter((path) => path.endsWith(".png"));
  expect([...new Set(shown)].toSorted()).toEqual(pictures.toSorted());
});

test("every link within the documents leads to a page, and to a heading of it", () => {
  expect(texts.size).toBeGreaterThan(20);
  const dead: string[] = [];
  for (const [page, text] of texts) {
    for (const [, target = ""] of text.matchAll(/\]\(([^)]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [file = "", anchor] = target.split("#");
      const there = texts.get(file === "" ? page : join(dirname(page), file));
      const headings = there?.matchAll(/^#+ (.*)$/gm).map(([, heading = ""]) => anchorOf(heading));
      const leads = headings && (anchor === undefined || [...headings].includes(anchor));
      if (!leads) dead.push(`${page}: ${target}`);
    }
  }
  expect(dead).toEqual([]);
});

test("every page is reached from the README", () => {
  const seen = new Set<string>(["README.md"]);
  for (const page of seen) {
    const text = texts.get(page) ?? "";
    for (const [, target = ""] of text.matchAll(/\]\(([^)#:]+\.md)/g)) seen.add(join(dirname(page), target));
  }
  expect([...texts.keys()].filter((page) => !seen.has(page))).toEqual([]);
});

test("every file and folder that a document names is there", () => {
  const names = new Set([...paths].map((path) => basename(path)));
  const missing = written().flatMap(([page, text]) =>
    text
      .matchAll(/`([\w./-]+)`/g)
      .map(([, name = ""]) => name)
      .filter((name) => /\w\.(ts|md|sql|proto|mjs|jsonl)$/.test(name) || folders.includes(name.split("/")[0] ?? ""))
      // A migration that a recipe makes.
      .filter((name) => !name.startsWith("0002_"))
      .filter((name) => {
        const isThere = [name, join(dirname(page), name)].some((path) => paths.has(path.replace(/\/$/, "")));
        return !isThere && (name.includes("/") || !names.has(name));
      })
      .map((name) => `${page}: ${name}`)
      .toArray(),
  );
  expect(missing).toEqual([]);
});

test("every setting that a process reads has a row in the table of settings, and no other", async () => {
  const sources = [...paths].filter((path) => /^(services|gateway|deploy)\/.*(?<!\.test)\.ts$/.test(path));
  const read = await Promise.all(
    sources.map(async (path) => {
      const text = await readFile(path, "utf8");
      if (!/SettingsReader|readSettings/.test(text)) return [];
      return [...text.matchAll(/(?<=process\.env\.|")[A-Z][A-Z_]+(?=["\s)])/g)].map(([name]) => name);
    }),
  );
  // Codes of errors and names of signals.
  const used = new Set(read.flat().filter((name) => !/^(E[A-Z]+|SIG[A-Z]+)$/.test(name)));
  const [settings = ""] = texts.get("docs/operating/settings.md")?.split("## Tests and benchmarks") ?? [];
  const described = new Set(settings.matchAll(/^\| `([A-Z_]+)`/gm).map(([, name = ""]) => name));
  expect([...described].toSorted()).toEqual([...used].toSorted());
});

test("every type of webhooks has a row with its scope in the table of types, and no other", () => {
  const table = texts.get("docs/webhooks.md")?.split("## Types")[1]?.split("\n## ")[0] ?? "";
  const rows = [...table.matchAll(/^\| `([a-z_.]+)` .*\| (\S+) +\|$/gm)].map(([, name, scope]) => [name, scope]);
  expect(rows).toEqual(webhookTypes.map(({ name, scope }) => [name, scope === null ? "none" : `\`${scope}\``]));
});

test("no line is longer than it is comfortable to read", () => {
  const long = written().flatMap(([page, text]) =>
    text.split("\n").flatMap((line, index) => (line.length > lineLengthMax ? [`${page}:${index + 1}`] : [])),
  );
  expect(long).toEqual([]);
});
