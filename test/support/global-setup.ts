/** Starts what all test files share: PostgreSQL, nats-server, a single process, and a mesh of six. */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startPostgres } from "../../deploy/local/postgres.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createDatabase, execute } from "./database.ts";
import type { DaybookAddresses } from "./daybook.ts";
import { startMesh, type MeshAddresses } from "./mesh.ts";
import { startNats } from "./nats.ts";
import { startOneProcess } from "./single-process.ts";
import { spreadDatabase } from "./spread.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A server on which tests may create databases. */
    databaseUrl: string;
    natsUrl: string;
    singleProcess: DaybookAddresses;
    mesh: MeshAddresses;
    /** Seed of all random draws; see random.ts. */
    randomSeed: number;
  }
}

const postgresSettings = {
  // Several meshes share it, and connections of killed processes stay for a while.
  max_connections: "400",
  // Tests kill processes, not machines, so commits need not reach the disk.
  fsync: "off",
};

/** The services' role, which may also create databases of tests. */
async function startServicesPostgres(folder: string, owner: Owner): Promise<string> {
  const { url, superuserUrl } = owner.own(await startPostgres(folder, "test", postgresSettings));
  await execute(superuserUrl, `ALTER ROLE ${new URL(url).username} CREATEDB`);
  return url;
}

/** Processes read the dashboard's files as they start. It takes 0.1 seconds when no source changed. */
function buildDashboard(): void {
  const { status } = spawnSync(process.execPath, ["scripts/ui.mjs", "--required"], { stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error("the dashboard was not built");
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const owner = new Owner();
  try {
    buildDashboard();
    const folder = await mkdtemp(join(tmpdir(), "daybook-test-"));
    owner.defer(() => rm(folder, { recursive: true, force: true }));
    const [databaseUrl, natsUrl] = await Promise.all([
      process.env.DATABASE_URL ?? startServicesPostgres(join(folder, "postgres"), owner),
      process.env.NATS_URL ?? startNats(join(folder, "nats")).then((server) => owner.own(server).url),
    ]);
    const randomSeed = Number(process.env.RANDOM_SEED ?? randomInt(2 ** 31));
    console.log(`Random draws are made of RANDOM_SEED=${randomSeed}.`);
    provide("randomSeed", randomSeed);
    provide("databaseUrl", databaseUrl);
    provide("natsUrl", natsUrl);
    const one = owner.own(await createDatabase(databaseUrl));
    const other = owner.own(await createDatabase(databaseUrl));
    // So all that tests ask of the mesh is also asked of tables that are spread by property.
    await spreadDatabase(other.url);
    const [singleProcess, mesh] = await Promise.all([
      // Two share its port, so all that tests ask of it must not depend on which answers.
      startOneProcess(one.url, join(folder, "single-process"), owner, { WORKERS: "2" }),
      startMesh({ databaseUrl: other.url, natsUrl }, owner),
    ]);
    provide("singleProcess", singleProcess);
    provide("mesh", mesh);
  } catch (error) {
    await owner.close();
    throw error;
  }
  return () => owner.close();
}
