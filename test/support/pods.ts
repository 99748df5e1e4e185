/** Looks at built manifests as a cluster would: which pods there are, what selects them, and their settings. */
import type { IDeployment } from "kubernetes-models/apps/v1/Deployment";
import type { IStatefulSet } from "kubernetes-models/apps/v1/StatefulSet";
import type { IJob } from "kubernetes-models/batch/v1/Job";
import type { IConfigMap } from "kubernetes-models/v1/ConfigMap";
import type { IContainer } from "kubernetes-models/v1/Container";
import type { IPodSpec } from "kubernetes-models/v1/PodSpec";
import type { Manifest } from "./manifests.ts";

export type Labels = Readonly<Record<string, string>>;

/** Pods of one kind. */
export interface Workload {
  name: string;
  kind: "Deployment" | "StatefulSet" | "Job";
  manifest: IDeployment | IStatefulSet | IJob;
  labels: Labels;
  replicas: number | undefined;
  pod: IPodSpec;
  container: IContainer;
}

interface Selector {
  matchLabels?: Labels | null;
  matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] | null }[] | null;
}

/** The documents of a kind. */
export function ofKind<Kind extends Manifest["kind"]>(
  manifests: readonly Manifest[],
  kind: Kind,
): Extract<Manifest, { kind: Kind }>[] {
  return manifests.filter((manifest): manifest is Extract<Manifest, { kind: Kind }> => manifest.kind === kind);
}

/** Pods that run all the time. */
export function workloadsOf(manifests: readonly Manifest[]): Workload[] {
  return [...ofKind(manifests, "Deployment"), ...ofKind(manifests, "StatefulSet")].map((manifest) =>
    toWorkload(manifest, manifest.spec?.replicas ?? undefined),
  );
}

/** Pods that run once. */
export function jobsOf(manifests: readonly Manifest[]): Workload[] {
  return ofKind(manifests, "Job").map((manifest) => toWorkload(manifest, undefined));
}

function toWorkload(manifest: Workload["manifest"], replicas: number | undefined): Workload {
  const { template } = manifest.spec ?? {};
  const pod = template?.spec as IPodSpec;
  return {
    name: manifest.metadata?.name ?? "",
    kind: manifest.kind,
    manifest,
    labels: template?.metadata?.labels ?? {},
    replicas,
    pod,
    container: pod.containers[0] as IContainer,
  };
}

/** The pods that run Daybook; the others are stores. */
export function daybookOf(manifests: readonly Manifest[]): Workload[] {
  return workloadsOf(manifests).filter(({ container }) => container.name === "daybook");
}

/** Whether a selector finds pods with these labels. An empty one finds all. */
export function selects(selector: Selector | null | undefined, labels: Labels): boolean {
  if (!selector) return false;
  const matches = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return (
    matches &&
    (selector.matchExpressions ?? []).every(({ key, operator, values }) => {
      const isIn = values?.includes(labels[key] ?? "") ?? false;
      if (operator === "In") return isIn;
      if (operator === "NotIn") return !isIn;
      throw new Error(`the tests do not know the operator ${operator}`);
    })
  );
}

/** The number of a container's port, by its name or number. */
export function portOf({ container }: Workload, port: number | string | undefined): number | undefined {
  return container.ports?.find(({ name, containerPort }) => name === port || containerPort === port)?.containerPort;
}

/** What stands for the value of a Secret. */
export type SecretValue = (secret: string, key: string) => string;

/** The environment that a container gets. */
export function environmentOf(
  manifests: readonly Manifest[],
  { name: workload, container }: Workload,
  secretValue: SecretValue,
): Record<string, string> {
  const configMaps = new Map(ofKind(manifests, "ConfigMap").map((map) => [map.metadata?.name, map]));
  const environment: Record<string, string> = {};
  for (const { configMapRef } of container.envFrom ?? []) {
    const map: IConfigMap | undefined = configMaps.get(configMapRef?.name ?? "");
    if (!map) throw new Error(`${workload} has settings of ${configMapRef?.name}, which is not there`);
    Object.assign(environment, map.data);
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const secret = valueFrom?.secretKeyRef;
    if (secret) environment[name] = secretValue(secret.name ?? "", secret.key);
    else environment[name] = value ?? "";
  }
  return environment;
}

/** Connections that a process opens at most, if DATABASE_CONNECTIONS_MAX says nothing. */
export const connectionsDefault = { service: 10, one: 44 } as const;

/** Grace for a pod's end, and what its preStop takes of it, in seconds. */
export function graceOf({ pod, container }: Workload): { graceS: number; preStopS: number } {
  const graceS = pod.terminationGracePeriodSeconds ?? 30;
  return { graceS, preStopS: container.lifecycle?.preStop?.sleep?.seconds ?? 0 };
}
