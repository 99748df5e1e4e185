/** The network policies of deploy/kubernetes: nothing is reached but what is needed, and both sides agree. */
import type { INetworkPolicyEgressRule } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicyEgressRule";
import type { INetworkPolicyIngressRule } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicyIngressRule";
import type { INetworkPolicyPeer } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicyPeer";
import { beforeAll, describe, expect, test } from "vitest";
import { buildOverlay, overlayNames, type Manifest } from "../support/manifests.ts";
import { daybookOf, environmentOf, ofKind, portOf, selects, workloadsOf, type Labels } from "../support/pods.ts";

/** Something with an address: pods of a workload, or of an operator's database. */
interface Party {
  name: string;
  labels: Labels;
  /** The number of a port that it listens on. */
  portOf(port: number | string | undefined): number | undefined;
}

let overlays: Map<string, Manifest[]>;
beforeAll(async () => {
  overlays = new Map(await Promise.all(overlayNames.map(async (name) => [name, await buildOverlay(name)] as const)));
});

const databasePorts = new Set([5432, 8000, 9187]);

function partiesOf(manifests: readonly Manifest[]): Party[] {
  const pods = workloadsOf(manifests).map((workload) => ({
    name: workload.name,
    labels: workload.labels,
    portOf: (port: number | string | undefined) => portOf(workload, port),
  }));
  const databases = ofKind(manifests, "Cluster").map(({ metadata }) => ({
    name: metadata.name,
    labels: { "cnpg.io/cluster": metadata.name },
    portOf: (port: number | string | undefined) => (databasePorts.has(Number(port)) ? Number(port) : undefined),
  }));
  return [...pods, ...databases];
}

function isPeer(peer: INetworkPolicyPeer, party: Party): boolean {
  return !peer.namespaceSelector && !peer.ipBlock && selects(peer.podSelector, party.labels);
}

function peersOf(rule: INetworkPolicyIngressRule | INetworkPolicyEgressRule): INetworkPolicyPeer[] | undefined {
  if ("from" in rule) return rule.from;
  return "to" in rule ? rule.to : undefined;
}

/** The calls that a side of the policies allows, as `from → to:port`. A rule without peers allows all. */
function allowed(manifests: readonly Manifest[], side: "ingress" | "egress"): Set<string> {
  const parties = partiesOf(manifests);
  const calls = new Set<string>();
  for (const { spec } of ofKind(manifests, "NetworkPolicy")) {
    const owners = parties.filter(({ labels }) => selects(spec?.podSelector, labels));
    for (const rule of spec?.[side] ?? []) {
      const peers = peersOf(rule);
      const others = parties.filter((party) => !peers || peers.some((peer) => isPeer(peer, party)));
      for (const owner of owners) {
        for (const other of others) {
          const [from, to] = side === "ingress" ? [other, owner] : [owner, other];
          for (const { port } of rule.ports ?? []) {
            const number = to.portOf(port ?? undefined);
            if (number !== undefined) calls.add(`${from.name} → ${to.name}:${number}`);
          }
        }
      }
    }
  }
  return calls;
}

/** The address in a Secret: of an operator's database, else of one that is elsewhere. */
function addressOf(secret: string): string {
  return `postgres://${secret.endsWith("-app") ? secret.replace(/-app$/, "") : "elsewhere"}:5432/`;
}

/** The calls that the settings ask for. */
function neededCalls(manifests: readonly Manifest[]): Set<string> {
  const calls = new Set<string>();
  const clusters = new Set(ofKind(manifests, "Cluster").map(({ metadata }) => metadata.name));
  const names = new Set(workloadsOf(manifests).map(({ name }) => name));
  for (const workload of daybookOf(manifests)) {
    const environment = environmentOf(manifests, workload, addressOf);
    for (const [setting, value] of Object.entries(environment)) {
      if (!/^(?!PUBLIC).*_URL$/.test(setting)) continue;
      for (const url of value.split(",")) {
        const { hostname, port } = new URL(url);
        const host = hostname.split(".").at(-1) ?? "";
        if (names.has(host) || clusters.has(host)) calls.add(`${workload.name} → ${host}:${port}`);
      }
    }
  }
  return calls;
}

/** The public API is open to all, unless an Ingress is in front of it. */
function isPublic(call: string): boolean {
  return call.endsWith(":8080");
}

describe.each(overlayNames)("overlay %s", (overlay) => {
  let manifests: Manifest[];
  beforeAll(() => (manifests = overlays.get(overlay) ?? []));

  test("every pod is denied what no policy allows, both ways, and may ask DNS", () => {
    const policies = ofKind(manifests, "NetworkPolicy");
    const denying = policies.find(({ metadata }) => metadata?.name === "default-deny")?.spec;
    expect([denying?.policyTypes, denying?.ingress, denying?.egress]).toEqual([
      ["Ingress", "Egress"],
      undefined,
      undefined,
    ]);
    const asking = policies.find(({ metadata }) => metadata?.name === "dns")?.spec;
    for (const { name, labels } of workloadsOf(manifests)) {
      expect([name, selects(denying?.podSelector, labels)]).toEqual([name, true]);
      expect([name, selects(asking?.podSelector, labels)]).toEqual([name, true]);
    }
  });

  test("every policy is of pods that are there, and of ports that they have", () => {
    const parties = partiesOf(manifests);
    const found = ofKind(manifests, "NetworkPolicy").flatMap(({ metadata, spec }) => {
      const owners = parties.filter(({ labels }) => selects(spec?.podSelector, labels));
      const unknown = (spec?.ingress ?? [])
        .flatMap(({ ports }) => ports ?? [])
        .filter(({ port }) => owners.some((owner) => owner.portOf(port ?? undefined) === undefined));
      const silent = [...(spec?.ingress ?? []), ...(spec?.egress ?? [])].filter(({ ports }) => !ports?.length);
      const faults = [...unknown.map(({ port }) => `port ${port}`), ...silent.map(() => "a rule of all ports")];
      return (owners.length === 0 ? ["of no pod", ...faults] : faults).map((fault) => `${metadata?.name}: ${fault}`);
    });
    expect(found).toEqual([]);
  });

  test("what one side may call, the other may be asked for, and nothing else", () => {
    const out = allowed(manifests, "egress");
    const into = [...allowed(manifests, "ingress")].filter((call) => !isPublic(call));
    const replication = (call: string): boolean => /^(\S+-db) → \1:/.test(call);
    expect(into.filter((call) => !replication(call)).toSorted()).toEqual([...out].toSorted());
  });

  test("every call that the settings ask for is allowed, and no service may be called without need", () => {
    const out = allowed(manifests, "egress");
    const needed = neededCalls(manifests);
    expect([...needed].filter((call) => !out.has(call))).toEqual([]);
    const unneeded = [...out].filter((call) => !needed.has(call) && !/^nats → nats:6222$/.test(call));
    expect(unneeded).toEqual([]);
  });
});

test.each(overlayNames)("webhooks alone go out to the public internet, and not to private networks: %s", (overlay) => {
  const manifests = overlays.get(overlay) ?? [];
  const blocks = ofKind(manifests, "NetworkPolicy").flatMap(({ spec }) =>
    (spec?.egress ?? [])
      .flatMap(({ to }) => to ?? [])
      .flatMap(({ ipBlock }) => (ipBlock ? [{ ...ipBlock, of: spec?.podSelector }] : [])),
  );
  const sender = overlay === "compact" ? "daybook" : "webhook";
  expect(blocks.map(({ cidr }) => cidr)).toEqual(["0.0.0.0/0", "::/0"]);
  expect(blocks[0]?.except).toEqual(expect.arrayContaining(["10.0.0.0/8", "169.254.0.0/16", "127.0.0.0/8"]));
  expect(blocks[1]?.except).toEqual(expect.arrayContaining(["fc00::/7", "fe80::/10", "::1/128"]));
  for (const { of } of blocks) {
    const reached = workloadsOf(manifests).filter(({ labels }) => selects(of, labels));
    expect(reached.map(({ name }) => name)).toEqual([sender]);
  }
});

test("a call that only one side allows is found", () => {
  const manifests = structuredClone(overlays.get("mesh") ?? []);
  const policy = ofKind(manifests, "NetworkPolicy").find(({ metadata }) => metadata?.name === "metric");
  delete policy?.spec?.egress;
  const [out, into] = [allowed(manifests, "egress"), allowed(manifests, "ingress")];
  expect([...into].filter((call) => !out.has(call) && !isPublic(call)).toSorted()).toEqual([
    "metric → event:8103",
    "metric → identity:8101",
    "metric → profile:8102",
  ]);
});
