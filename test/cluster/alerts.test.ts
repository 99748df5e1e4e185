/** The alerts as Prometheus itself reads them, and when each of them fires. It needs promtool. */
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parse } from "yaml";

const rules = "deploy/observability/alerts.yaml";
const cases = "test/cluster/alerts.yaml";

/** @throws Error with the output of promtool, or with what to install. */
function promtool(...words: string[]): string {
  const { status, stdout, stderr, error } = spawnSync("promtool", words, { encoding: "utf8" });
  if (error) throw new Error("promtool is missing. Debian's package `prometheus` has it.", { cause: error });
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
  return stdout;
}

test("Prometheus accepts the rules", () => {
  expect(promtool("check", "rules", rules)).toContain("SUCCESS");
});

test("each alert fires when it should, and only then", async () => {
  promtool("test", "rules", cases);
  const { groups } = parse(await readFile(rules, "utf8")) as { groups: { rules: { alert: string }[] }[] };
  const { tests } = parse(await readFile(cases, "utf8")) as { tests: { name: string }[] };
  const wanted = groups.flatMap((group) => group.rules.flatMap(({ alert }) => [`${alert} fires`, `${alert} is quiet`]));
  expect(tests.map(({ name }) => name).toSorted()).toEqual(wanted.toSorted());
});
