/** Every document that an overlay builds is one that Kubernetes knows, without a misspelt field that it would drop. */
import { beforeAll, describe, expect, test } from "vitest";
import { buildOverlay, findSchemaProblems, nameOf, overlayNames, type Manifest } from "../support/manifests.ts";

let overlays: Map<string, Manifest[]>;

beforeAll(async () => {
  overlays = new Map(await Promise.all(overlayNames.map(async (name) => [name, await buildOverlay(name)] as const)));
});

/** A copy of a document of the overlay that has all kinds, with another value at a path; undefined deletes. */
function changed(name: string, path: string, value: unknown): Manifest {
  const found = overlays.get("production")?.find((manifest) => nameOf(manifest) === name);
  const copy = structuredClone(found) as Manifest;
  const steps = path.split(".");
  let at = copy as unknown as Record<string, unknown>;
  for (const step of steps.slice(0, -1)) at = at[step] as Record<string, unknown>;
  at[steps.at(-1) ?? ""] = value;
  return copy;
}

describe("manifests", () => {
  test("every document of every overlay has the fields and the types of its kind", async () => {
    const all = [...overlays].flatMap(([overlay, manifests]) => manifests.map((manifest) => ({ overlay, manifest })));
    expect(all.length).toBeGreaterThan(100);
    const problems = await findSchemaProblems(all.map(({ manifest }) => manifest));
    const found = all.flatMap(({ overlay, manifest }, index) =>
      (problems[index] ?? []).map((problem) => `${overlay}: ${nameOf(manifest)}: ${problem}`),
    );
    expect(found).toEqual([]);
  });

  test("a misspelt field, a wrong type, a wrong word and a missing field are found", async () => {
    const container = "spec.template.spec.containers.0";
    const cases: [name: string, path: string, value: unknown, said: string][] = [
      ["Deployment/event", `${container}.redinessProbe`, {}, "redinessProbe"],
      ["Deployment/event", "spec.replicas", "2", "'string' is not assignable to type 'number'"],
      ["Deployment/event", `${container}.imagePullPolicy`, "Sometimes", "Sometimes"],
      ["Deployment/event", "spec.selector", undefined, "selector"],
      ["Deployment/event", `${container}.lifecycle.preStop.sleep`, 5, "ISleepAction"],
      ["Deployment/event", `${container}.resources.limits.memory`, "512 MB", "memory"],
      ["NetworkPolicy/event", "spec.ingres", [], "ingres"],
      ["Service/event", "spec.ports.0.targetport", "rpc", "targetport"],
      ["PodDisruptionBudget/event", "spec.unhealthyPodEvictionPolicy", 1, "AlwaysAllow"],
      ["HorizontalPodAutoscaler/event", "spec.metrics.0.resource.target.average", 70, "average"],
      ["PodMonitor/daybook", "spec.podMetricEndpoints", [], "podMetricEndpoints"],
      ["Cluster/daybook-db", "spec.postgresql.synchronous.dataDurabilty", "required", "dataDurabilty"],
      ["Cluster/daybook-db", "spec.postgresql.parameters.max_connections", 300, "'string'"],
    ];
    const problems = await findSchemaProblems(cases.map(([name, path, value]) => changed(name, path, value)));
    for (const [index, [name, , , said]] of cases.entries()) expect(problems[index]?.join("\n"), name).toContain(said);
  });
});
