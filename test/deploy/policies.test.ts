/** What holds for every document of deploy/kubernetes that no schema says. */
import { existsSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { buildOverlay, nameOf, overlayNames, type Manifest } from "../support/manifests.ts";
import {
  connectionsDefault,
  daybookOf,
  environmentOf,
  graceOf,
  jobsOf,
  ofKind,
  portOf,
  selects,
  workloadsOf,
  type Workload,
} from "../support/pods.ts";

let overlays: Map<string, Manifest[]>;
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

beforeAll(async () => {
  overlays = new Map(await Promise.all(overlayNames.map(async (name) => [name, await buildOverlay(name)] as const)));
});

/** A process may take so long to stop, in seconds: services/shared/process/lifecycle.ts. */
const stopS = 30;
const mibOf: Readonly<Record<string, number>> = { Mi: 1, Gi: 1024 };

function mib(quantity: unknown): number {
  const [, number, unit = ""] = /^(\d+)(Mi|Gi)$/.exec(String(quantity)) ?? [];
  return Number(number) * (mibOf[unit] ?? Number.NaN);
}

describe.each(overlayNames)("overlay %s", (overlay) => {
  let manifests: Manifest[];
  let workloads: Workload[];
  let daybook: Workload[];
  /** With those that run once. */
  let all: Workload[];
  beforeAll(() => {
    manifests = overlays.get(overlay) ?? [];
    workloads = workloadsOf(manifests);
    daybook = daybookOf(manifests);
    all = [...workloads, ...jobsOf(manifests)];
  });

  /** Workloads, with what is wrong with each. */
  function faults(some: readonly Workload[], check: (workload: Workload) => readonly string[]): string[] {
    expect(some.length).toBeGreaterThan(0);
    return some.flatMap((workload) => check(workload).map((fault) => `${workload.name}: ${fault}`));
  }
  const when = (isWrong: boolean, fault: string): string[] => (isWrong ? [fault] : []);

  test("each document is once, in the namespace that enforces the restricted standard", () => {
    const names = manifests.map(nameOf);
    expect(names).toEqual([...new Set(names)]);
    const [namespace, ...others] = ofKind(manifests, "Namespace");
    expect([namespace?.metadata?.labels?.["pod-security.kubernetes.io/enforce"], others]).toEqual(["restricted", []]);
    const elsewhere = manifests.filter((one) => one.kind !== "Namespace" && one.metadata?.namespace !== "daybook");
    expect(elsewhere.map(nameOf)).toEqual([]);
  });

  test("every pod meets the restricted standard", () => {
    const found = faults(all, ({ pod, container }) => {
      const own = container.securityContext;
      return [
        ...when(pod.containers.length !== 1 || Boolean(pod.initContainers), "more than one container"),
        ...when(pod.securityContext?.runAsNonRoot !== true || !pod.securityContext.runAsUser, "may run as root"),
        ...when(pod.securityContext?.seccompProfile?.type !== "RuntimeDefault", "no seccomp profile"),
        ...when(Boolean(pod.hostNetwork || pod.hostPID || pod.hostIPC), "a namespace of the machine"),
        ...when(own?.allowPrivilegeEscalation !== false || Boolean(own.privileged), "may gain privileges"),
        ...when(String(own?.capabilities?.drop) !== "ALL" || Boolean(own?.capabilities?.add), "capabilities"),
        ...when(own?.runAsUser === 0 || own?.runAsNonRoot === false, "the container is root"),
        ...when(
          (pod.volumes ?? []).some(({ configMap, emptyDir }) => !configMap && !emptyDir),
          "a volume of the machine",
        ),
        ...when(container.ports?.some(({ hostPort }) => hostPort) ?? false, "a port of the machine"),
      ];
    });
    expect(found).toEqual([]);
  });

  test("every pod writes only to bounded volumes, and has no access to the cluster", () => {
    const found = faults(all, ({ pod, container, manifest }) => {
      const claims = "volumeClaimTemplates" in (manifest.spec ?? {}) ? ["data"] : [];
      const there = new Set([...(pod.volumes ?? []).map(({ name }) => name), ...claims]);
      return [
        ...when(container.securityContext?.readOnlyRootFilesystem !== true, "a root that can be written"),
        ...when(pod.automountServiceAccountToken !== false, "a token of the cluster"),
        ...when(pod.enableServiceLinks !== false, "an environment of Services"),
        ...when(!(pod.volumes ?? []).every(({ emptyDir }) => !emptyDir || emptyDir.sizeLimit), "an unbounded volume"),
        ...(container.volumeMounts ?? []).filter(({ name }) => !there.has(name)).map(({ name }) => `no ${name}`),
      ];
    });
    expect(found).toEqual([]);
  });

  test("every container asks for what it needs, has a limit of memory and none of CPU", () => {
    const found = faults(all, ({ container }) => {
      const { requests, limits } = container.resources ?? {};
      return [
        ...when(!requests?.["cpu"], "no request of CPU"),
        ...when(!(mib(requests?.["memory"]) <= mib(limits?.["memory"])), "no request or limit of memory"),
        ...when(limits?.["cpu"] !== undefined, "a limit of CPU"),
      ];
    });
    expect(found).toEqual([]);
    const heaps = faults(daybook, ({ container }) => {
      const options = container.env?.find(({ name }) => name === "NODE_OPTIONS")?.value ?? "";
      const percentage = Number(/^--max-old-space-size-percentage=(\d+)$/.exec(options)?.[1]);
      return when(!(percentage >= 50 && percentage <= 80), "a heap that does not go by the limit");
    });
    expect(heaps).toEqual([]);
  });

  test("every container has three probes, on ports that it has", () => {
    const found = faults(workloads, (workload) => {
      const { startupProbe, livenessProbe, readinessProbe } = workload.container;
      return [startupProbe, livenessProbe, readinessProbe].flatMap((probe) => {
        const port = portOf(workload, probe?.httpGet?.port);
        return when(port === undefined, `no probe ${JSON.stringify(probe)}`);
      });
    });
    expect(found).toEqual([]);
    const paths = daybook.map(({ container: { startupProbe, livenessProbe, readinessProbe } }) =>
      [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet?.path),
    );
    expect(new Set(paths.map(String))).toEqual(new Set(["/health/live,/health/live,/health/ready"]));
  });

  test("every image has a version, and Daybook's is that of package.json", () => {
    const images = all.map(({ container }) => container.image ?? "");
    expect(images.filter((image) => !/^[\w./-]+:\d[\w.-]*$/.test(image))).toEqual([]);
    const own = new Set(daybook.map(({ container }) => container.image));
    expect(own).toEqual(new Set([`registry.example.com/daybook:${version}`]));
    const databases = ofKind(manifests, "Cluster").map(({ spec }) => spec.imageName);
    expect(databases.filter((image) => !/:\d+\.\d+-/.test(image))).toEqual([]);
  });

  test("process 1 of a container is node, with a file that the image has", () => {
    const copied = readFileSync("deploy/docker/Dockerfile", "utf8").matchAll(/^COPY (\S+) \1$/gm);
    const folders = copied.map(([, folder = ""]) => folder).toArray();
    const found = faults(daybook, ({ container }) => {
      const [program, file = "", ...others] = container.command ?? [];
      return [
        ...when(program !== "node" || others.length > 0 || container.args !== undefined, "another process 1"),
        ...when(!existsSync(file) || !folders.some((folder) => file.startsWith(`${folder}/`)), `no ${file}`),
      ];
    });
    expect(found).toEqual([]);
  });

  test("every workload selects its own pods, and no other", () => {
    const found = faults(workloads, ({ manifest, labels, name }) => {
      const selected = workloads.filter((other) => selects(manifest.spec?.selector, other.labels));
      const isOwn = selects(manifest.spec?.selector, labels);
      return when(!isOwn || selected.length !== 1, `selects ${selected.map((one) => one.name).join()} (${name})`);
    });
    expect(found).toEqual([]);
  });

  test("every workload has a budget of disruptions that lets a machine be emptied and keeps a replica", () => {
    const budgets = ofKind(manifests, "PodDisruptionBudget");
    const found = faults(workloads, ({ labels, replicas }) => {
      const own = budgets.filter(({ spec }) => selects(spec?.selector, labels));
      const max = Number(own[0]?.spec?.maxUnavailable);
      return when(own.length !== 1 || !(max >= 1 && max < (replicas ?? 2)), `${own.length} budgets of ${max}`);
    });
    expect(found).toEqual([]);
    expect(budgets.length).toBe(workloads.length);
  });

  test("every process has at least two replicas, spread over machines and zones, and is replaced one by one", () => {
    const scaled = new Map(ofKind(manifests, "HorizontalPodAutoscaler").map((one) => [one.metadata?.name, one.spec]));
    const found = faults(daybook, ({ name, replicas, pod, labels, manifest }) => {
      const spread = pod.topologySpreadConstraints ?? [];
      const { rollingUpdate } =
        (manifest.spec as { strategy?: { rollingUpdate?: Record<string, unknown> } }).strategy ?? {};
      const turns = Number(rollingUpdate?.["maxSurge"]) + Number(rollingUpdate?.["maxUnavailable"]);
      return [
        ...when((scaled.get(name)?.minReplicas ?? replicas ?? 1) < 2, "one replica"),
        ...when(
          String(spread.map((one) => one.topologyKey)) !== "topology.kubernetes.io/zone,kubernetes.io/hostname",
          "not spread",
        ),
        ...when(!spread.every((one) => selects(one.labelSelector, labels)), "spread that is not of its pods"),
        ...when(turns !== 1, "more than one is replaced at a time"),
      ];
    });
    expect(found).toEqual([]);
  });

  test("every Service finds the pods of one workload, on a port that they have", () => {
    const services = ofKind(manifests, "Service");
    expect(services.length).toBeGreaterThan(0);
    const found = services.flatMap(({ metadata, spec }) => {
      const pods = workloads.filter(({ labels }) => selects({ matchLabels: spec?.selector ?? {} }, labels));
      const [pod] = pods;
      if (!pod || pods.length > 1) return [`${metadata?.name} finds ${pods.length} workloads`];
      return (spec?.ports ?? []).flatMap(({ port, targetPort }) => {
        const target = portOf(pod, targetPort ?? port);
        // A headless Service has no port of its own: callers reach the pods themselves.
        const isReached = target !== undefined && (spec?.clusterIP !== "None" || target === port);
        return when(!isReached, `${metadata?.name}:${port} leads nowhere`);
      });
    });
    expect(found).toEqual([]);
  });

  test("every address in the settings is that of a Service or of a pod of one", () => {
    const services = ofKind(manifests, "Service");
    const found = faults(daybook, (workload) => {
      const environment = environmentOf(manifests, workload, () => "");
      const urls = Object.entries(environment).filter(([name, value]) => name.endsWith("_URL") && value !== "");
      return urls.flatMap(([name, value]) =>
        name === "PUBLIC_URL"
          ? []
          : value
              .split(",")
              .filter((url) => !leadsToPod(new URL(url)))
              .map((url) => `${name} ${url}`),
      );
    });
    expect(found).toEqual([]);

    function leadsToPod({ hostname, port }: URL): boolean {
      const [first = "", second] = hostname.split(".");
      const service = services.find(({ metadata }) => metadata?.name === (second ?? first));
      const isPort = service?.spec?.ports?.some((one) => one.port === Number(port)) ?? false;
      const [, set, ordinal] = /^(.*)-(\d+)$/.exec(first) ?? [];
      const pods = workloads.find(({ name, kind }) => kind === "StatefulSet" && name === set);
      return isPort && (second === undefined || Number(ordinal) < (pods?.replicas ?? 0));
    }
  });

  test("a pod has the time to stop after its preStop", () => {
    const found = faults(daybook, (workload) => {
      const { graceS, preStopS } = graceOf(workload);
      return when(preStopS < 5 || graceS < preStopS + stopS, `${graceS} s after ${preStopS} s`);
    });
    expect(found).toEqual([]);
  });

  test("what is scaled has a request to measure by, and no number of replicas that would undo it", () => {
    const scalers = ofKind(manifests, "HorizontalPodAutoscaler");
    const found = scalers.flatMap(({ spec }) => {
      const target = daybook.find(({ name }) => name === spec?.scaleTargetRef.name);
      const isWhole = target?.replicas === undefined && target?.container.resources?.requests?.["cpu"] !== undefined;
      return when(!isWhole || (spec?.maxReplicas ?? 0) <= (spec?.minReplicas ?? 1), spec?.scaleTargetRef.name ?? "");
    });
    expect(found).toEqual([]);
    const unsized = daybook.filter(
      ({ name, replicas }) => replicas === undefined && !scalers.some(({ spec }) => spec?.scaleTargetRef.name === name),
    );
    expect(unsized.map(({ name }) => name)).toEqual([]);
  });

  test("an Ingress leads to the gateway, and Prometheus to a port of every process", () => {
    for (const { spec } of ofKind(manifests, "Ingress")) {
      const backends = (spec?.rules ?? []).flatMap(({ http }) =>
        (http?.paths ?? []).map(({ backend }) => backend.service),
      );
      expect(backends.map((backend) => `${backend?.name} ${backend?.port?.name}`)).toEqual(["gateway http"]);
    }
    for (const { spec } of ofKind(manifests, "PodMonitor")) {
      const found = workloads.filter(({ labels }) => selects(spec?.selector as never, labels));
      expect(found.map(({ name }) => name).toSorted()).toEqual(daybook.map(({ name }) => name).toSorted());
      const [endpoint] = spec?.podMetricsEndpoints ?? [];
      expect(found.filter((workload) => portOf(workload, endpoint?.port ?? "") === undefined)).toEqual([]);
    }
  });

  test("all processes together open fewer connections than PostgreSQL accepts, even during a release", () => {
    const perDatabase = new Map<string, number>();
    for (const workload of daybook) {
      const url = workload.container.env?.find(({ name }) => name === "DATABASE_URL")?.valueFrom?.secretKeyRef;
      if (!url) continue;
      const scaler = ofKind(manifests, "HorizontalPodAutoscaler").find(
        ({ metadata }) => metadata?.name === workload.name,
      );
      const surge = Number(
        (workload.manifest.spec as { strategy?: { rollingUpdate?: { maxSurge?: number } } }).strategy?.rollingUpdate
          ?.maxSurge,
      );
      const processes = (scaler?.spec?.maxReplicas ?? workload.replicas ?? 1) + surge;
      const { DATABASE_CONNECTIONS_MAX: set } = environmentOf(manifests, workload, () => "");
      const each =
        set === undefined ? connectionsDefault[workload.name === "daybook" ? "one" : "service"] : Number(set);
      const database = url.name ?? "";
      perDatabase.set(database, (perDatabase.get(database) ?? 0) + processes * each);
    }
    expect(perDatabase.size).toBeGreaterThan(0);
    // Three are for superusers, and a few for the operator and whoever looks.
    const reserved = 4;
    for (const [database, connections] of perDatabase) {
      const cluster = ofKind(manifests, "Cluster").find(({ metadata }) => `${metadata.name}-app` === database);
      const max = Number(cluster?.spec.postgresql.parameters["max_connections"] ?? 100);
      expect(connections, database).toBeLessThanOrEqual(max - reserved);
    }
  });
});
