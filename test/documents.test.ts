/** The documents: what they link to is there. */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

/** The anchor that a heading has. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, "")
    .replaceAll(" ", "-");
}

async function pages(): Promise<string[]> {
  const found = await readdir("docs", { recursive: true });
  return ["README.md", ...found.filter((name) => name.endsWith(".md")).map((name) => join("docs", name))];
}

test("every link within the documents leads to a page, and to a heading of it", async () => {
  const texts = new Map<string, string>();
  for (const page of await pages()) texts.set(page, await readFile(page, "utf8"));
  expect(texts.size).toBeGreaterThan(8);
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

test("every page is reached from the README", async () => {
  const seen = new Set<string>(["README.md"]);
  for (const page of seen) {
    const text = await readFile(page, "utf8");
    for (const [, target = ""] of text.matchAll(/\]\(([^)#:]+\.md)/g)) seen.add(join(dirname(page), target));
  }
  expect((await pages()).filter((page) => !seen.has(page))).toEqual([]);
});
