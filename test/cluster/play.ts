/** Plays an overlay with podman: each Deployment with its replicas, under the name of its Service. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { IDeployment } from "kubernetes-models/apps/v1/Deployment";
import { buildOverlay, type OverlayName } from "../support/manifests.ts";
import { daybookOf, ofKind, portOf, type Workload } from "../support/pods.ts";
import { eventually } from "../support/processes.ts";
import { daybookImage } from "./images.ts";
import type { Podman } from "./podman.ts";

/** A replica of a process. */
export interface Replica {
  /** Its container. */
  container: string;
  /** Of its port for callers, and of the internal one. */
  url: string;
  internalUrl: string;
}

/** An overlay that runs. */
export interface Played {
  /** Replicas of each process, by its name. */
  replicas: Record<string, Replica[]>;
  /** Of the demo property for tests. */
  testKey: string;
}

const startTimeoutMs = 150_000;

/** Plays an overlay, and waits until each of its replicas is ready. */
export async function playOverlay(podman: Podman, overlay: OverlayName, databaseUrl: string): Promise<Played> {
  const testKey = `sk_test_${overlay.padEnd(40, "x")}`;
  const secret = {
    "internal-token": `the internal token of the overlay ${overlay}`,
    "database-url": databaseUrl,
    "bootstrap-live-key": `sk_live_${overlay.padEnd(40, "x")}`,
    "bootstrap-test-key": testKey,
  };
  const secretName = `daybook-${overlay}`;
  // podman reads Secrets as JSON, and stores those of a played file as YAML.
  const encoded = Object.entries(secret).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  const file = join(podman.folder, `${secretName}.json`);
  await writeFile(file, JSON.stringify(Object.fromEntries(encoded)));
  await podman.podman("secret", "create", secretName, file);

  const manifests = await buildOverlay(overlay);
  const configMaps = ofKind(manifests, "ConfigMap");
  const workloads = daybookOf(manifests);
  await createVolumes(podman, workloads);
  const replicas = await Promise.all(
    workloads.map(async (workload) => {
      const { name } = workload;
      const played = join(podman.folder, `${overlay}-${name}.yaml`);
      const documents = [...configMaps, playable(workload, secretName)];
      await writeFile(played, documents.map((document) => JSON.stringify(document)).join("\n---\n"));
      // The alias behaves as a headless Service: DNS answers with every replica.
      await podman.podman("kube", "play", "--network", `${podman.network}:alias=${name}`, played);
      return [name, await findReplicas(podman, workload)] as const;
    }),
  );
  return { replicas: Object.fromEntries(replicas), testKey };
}

/** Creates what emptyDirs are kept in: podmans that play at once find one missing, and fail if another creates it. */
async function createVolumes({ podman }: Podman, workloads: readonly Workload[]): Promise<void> {
  const names = workloads.flatMap(({ manifest }) =>
    ((manifest as IDeployment).spec?.template.spec?.volumes ?? []).flatMap((volume) =>
      volume.emptyDir ? [volume.name] : [],
    ),
  );
  for (const name of new Set(names)) {
    await podman("volume", "create", name).catch((error: Error) => {
      // For another overlay, which has the same names.
      if (!error.message.includes("volume already exists")) throw error;
    });
  }
}

/** The Deployment without what podman cannot do; test/deploy holds these parts. */
function playable({ manifest }: Workload, secretName: string): IDeployment {
  const copy = structuredClone(manifest) as IDeployment;
  const pod = copy.spec?.template.spec;
  const [container] = pod?.containers ?? [];
  if (!pod || !container) throw new Error(`${copy.metadata?.name} has no container`);
  container.image = daybookImage;
  // Ports would be published on the machine, where two replicas collide. Probes need systemd.
  for (const part of ["ports", "startupProbe", "livenessProbe", "readinessProbe", "lifecycle"] as const)
    delete container[part];
  delete pod.topologySpreadConstraints;
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.secretKeyRef) valueFrom.secretKeyRef.name = secretName;
  }
  return copy;
}

async function findReplicas(podman: Podman, workload: Workload): Promise<Replica[]> {
  const { name, container, replicas = 1 } = workload;
  const internal = portOf(workload, "internal");
  const callers = container.ports?.find((port) => port.name !== "internal")?.containerPort;
  return Promise.all(
    Array.from({ length: replicas }, async (_, ordinal) => {
      const pod = `${name}-pod-${ordinal}`;
      const address = await podman.addressOf(pod);
      const replica = {
        container: `${pod}-${container.name}`,
        url: `http://${address}:${callers}`,
        internalUrl: `http://${address}:${internal}`,
      };
      await eventually(() => isReady(replica), {
        timeoutMs: startTimeoutMs,
        explain: () => `${pod} is not ready at ${replica.internalUrl}`,
      }).catch(async (error: unknown) => {
        throw new Error(await podman.podman("logs", replica.container), { cause: error });
      });
      return replica;
    }),
  );
}

/** True, or undefined while it is not ready. */
export async function isReady({ internalUrl }: Replica): Promise<true | undefined> {
  const { ok } = await fetch(`${internalUrl}/health/ready`, { signal: AbortSignal.timeout(5_000) });
  return ok ? true : undefined;
}
