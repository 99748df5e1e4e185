/** One version, from package.json, wherever Daybook says which it is. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { startSingleProcess, type TestDaybook } from "./support/daybook.ts";

const read = (name: string): string => readFileSync(name, "utf8");
const { version } = JSON.parse(read("package.json")) as { version: string };

const owner = new Owner();
let daybook: TestDaybook;
beforeAll(async () => {
  daybook = await startSingleProcess(owner);
});
afterAll(() => owner.close());

test("is a semantic version, which the lock file repeats", () => {
  expect(version).toMatch(/^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$/);
  const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, { version?: string }> };
  expect(packages[""]?.version).toBe(version);
});

test("is in the changelog, unless the changelog has only what is not released", () => {
  const releases = read("CHANGELOG.md").match(/(?<=^## \[)[^\]]+/gm) ?? [];
  expect(releases.slice(0, 2)).toEqual(releases.length === 1 ? ["Unreleased"] : ["Unreleased", version]);
});

test("is told by the probes, the OpenAPI document and the metrics", async () => {
  const get = async (path: string) => (await fetch(new URL(path, daybook.baseUrl))).json();
  expect(await get("/health/live")).toEqual({ status: "live", version });
  expect(await get("/health/ready")).toEqual({ status: "ready", version });
  expect(await get("/openapi.json")).toMatchObject({ info: { version } });
  expect(await createRegistry().metrics()).toContain(`daybook_build_info{version="${version}"} 1`);
});
