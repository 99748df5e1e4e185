/** Builds the image, starts the stores, and plays two overlays, each with a database of its own. */
import type { TestProject } from "vitest/node";
import { buildImages } from "./images.ts";
import { playOverlay, type Played } from "./play.ts";
import { network, openPodman } from "./podman.ts";
import { execute, startStores } from "./stores.ts";

declare module "vitest" {
  interface ProvidedContext {
    played: Record<"mesh" | "compact", Played>;
    /** How to reach the same podman. */
    podmanEnv: Record<string, string>;
  }
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const podman = await openPodman();
  try {
    const started = performance.now();
    const say = (what: string): void =>
      console.log(`${what} after ${Math.round((performance.now() - started) / 1000)} s`);
    await podman.podman("network", "create", network);
    await buildImages(podman);
    say("The images are built");
    const { superuserUrl, urlOf } = await startStores(podman);
    for (const name of ["mesh", "compact"]) await execute(superuserUrl, `CREATE DATABASE ${name} OWNER daybook`);
    say("The stores answer");
    const [mesh, compact] = await Promise.all([
      playOverlay(podman, "mesh", urlOf("mesh")),
      playOverlay(podman, "compact", urlOf("compact")),
    ]);
    say("All pods are ready");
    provide("played", { mesh, compact });
    provide("podmanEnv", {
      CONTAINERS_CONF: `${podman.folder}/containers.conf`,
      CONTAINERS_STORAGE_CONF: `${podman.folder}/storage.conf`,
    });
  } catch (error) {
    await podman.close();
    throw error;
  }
  return () => podman.close();
}
