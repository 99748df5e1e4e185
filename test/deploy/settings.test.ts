/** The environment of every container is one that its process starts with: asked of the processes themselves. */
import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { buildOverlay, overlayNames, type Manifest } from "../support/manifests.ts";
import { daybookOf, environmentOf, jobsOf, ofKind, workloadsOf } from "../support/pods.ts";
import { readSettingsOf } from "../support/settings.ts";

let overlays: Map<string, Manifest[]>;
/** `name/key` of every Secret that the documents say how to make, and which operators make. */
let secrets: Set<string>;

beforeAll(async () => {
  overlays = new Map(await Promise.all(overlayNames.map(async (name) => [name, await buildOverlay(name)] as const)));
  const page = await readFile("docs/operating/kubernetes.md", "utf8");
  const commands = page.replaceAll("\\\n", " ").matchAll(/kubectl create secret generic (\S+)(.*)/g);
  secrets = new Set(
    commands.flatMap(([, name, words = ""]) =>
      words.matchAll(/--from-literal=([\w-]+)=/g).map(([, key]) => `${name}/${key}`),
    ),
  );
});

const values: Readonly<Record<string, string>> = {
  "internal-token": "t".repeat(32),
  "database-url": "postgresql://daybook:secret@db.example.com/daybook",
  uri: "postgresql://daybook:secret@daybook-db-rw.daybook:5432/daybook",
  "bootstrap-live-key": `sk_live_${"k".repeat(32)}`,
  "bootstrap-test-key": `sk_test_${"k".repeat(32)}`,
};
// The pods' Node reads it, so that heaps stay below the limits of memory.
const readByNode = new Set(["NODE_OPTIONS"]);

describe.each(overlayNames)("overlay %s", (name) => {
  test("every process takes its settings, and reads each that is set", async () => {
    const manifests = overlays.get(name) ?? [];
    const workloads = daybookOf(manifests);
    expect(workloads.length).toBeGreaterThan(0);
    const checked = workloads.map(async (workload) => {
      const environment = environmentOf(manifests, workload, (_, key) => values[key] ?? `no value of ${key}`);
      const { names, problems } = await readSettingsOf(workload.container.command?.[1] ?? "", environment);
      // Its default is an address of the same machine. A service has no need to call itself.
      const isOwn = (setting: string): boolean => setting === `${workload.name.toUpperCase()}_URL`;
      const missing = [...names].filter(
        (read) => /^(?:IDENTITY|PROFILE|EVENT|METRIC)_URL$/.test(read) && !environment[read] && !isOwn(read),
      );
      const unread = Object.keys(environment).filter((set) => !names.has(set) && !readByNode.has(set));
      return [...problems, ...missing, ...unread].map((fault) => `${workload.name}: ${fault}`);
    });
    expect((await Promise.all(checked)).flat()).toEqual([]);
  });

  test("every Secret is one that the documents make, or an operator", () => {
    const manifests = overlays.get(name) ?? [];
    const made = new Set(secrets);
    for (const { metadata } of ofKind(manifests, "Cluster")) made.add(`${metadata.name}-app/uri`);
    const used = [...workloadsOf(manifests), ...jobsOf(manifests)].flatMap(({ container }) =>
      (container.env ?? []).flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []),
    );
    expect(used.length).toBeGreaterThan(0);
    expect(used.map((ref) => `${ref.name}/${ref.key}`).filter((ref) => !made.has(ref))).toEqual([]);
  });

  test("every ConfigMap is used", () => {
    const manifests = overlays.get(name) ?? [];
    const used = [...workloadsOf(manifests), ...jobsOf(manifests)].flatMap(({ container, pod }) => [
      ...(container.envFrom ?? []).map(({ configMapRef }) => configMapRef?.name),
      ...(pod.volumes ?? []).map(({ configMap }) => configMap?.name),
    ]);
    const there = ofKind(manifests, "ConfigMap").map(({ metadata }) => metadata?.name);
    expect(new Set(used.filter((one) => one !== undefined))).toEqual(new Set(there));
  });
});

test("a setting that is missing, wrong, or that the process does not know is found", async () => {
  const manifests = overlays.get("mesh") ?? [];
  const event = daybookOf(manifests).find(({ name }) => name === "event");
  if (!event) throw new Error("there is no event");
  const good = environmentOf(manifests, event, (_, key) => values[key] ?? "");
  const { NATS_URL: _, ...missing } = good;
  expect((await readSettingsOf("services/event/main.ts", missing)).problems).toEqual(["NATS_URL must be set"]);
  const wrong = { ...good, PROFILE_URL: "profile:8102", INTERNAL_TOKEN: "short", METRIK_URL: "http://metric:8104" };
  const { names, problems } = await readSettingsOf("services/event/main.ts", wrong);
  expect(problems).toEqual([
    "INTERNAL_TOKEN must have at least 32 characters",
    "PROFILE_URL must be an address that starts with http:",
  ]);
  expect(names).not.toContain("METRIK_URL");
});
