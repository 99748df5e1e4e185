/** deploy/compose.yaml: what its containers are given, and that what it names is there. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readSettingsOf } from "../support/settings.ts";

interface Container {
  image: string;
  command?: string[];
  environment?: Record<string, string | number>;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  volumes?: string[];
  networks: string[];
  ports?: string[];
  profiles?: string[];
  healthcheck?: { test: string[] };
  stop_grace_period?: string;
}
interface Compose {
  services: Record<string, Container>;
  volumes: Record<string, unknown>;
  networks: Record<string, { internal?: boolean } | null>;
}

const given: Readonly<Record<string, string>> = {
  INTERNAL_TOKEN: "t".repeat(64),
  DATABASE_PASSWORD: "p".repeat(64),
  BOOTSTRAP_TEST_KEY: `sk_test_${"k".repeat(40)}`,
};

/** As Docker Compose replaces variables. */
function interpolated(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g, (found, name: string, kind: string, other: string) => {
    if (found === "$$") return "$";
    const value = variables[name];
    if (value === undefined && kind === "?") throw new Error(`${name} ${other}`);
    return value ?? other ?? "";
  });
}

function readCompose(variables: Readonly<Record<string, string>>): Compose {
  return parse(readFileSync("deploy/compose.yaml", "utf8"), replace, { merge: true }) as Compose;

  function replace(_key: unknown, value: unknown): unknown {
    return typeof value === "string" ? interpolated(value, variables) : value;
  }
}

const compose = readCompose(given);
const containers = Object.entries(compose.services);
const processes = containers.filter(([, { command }]) => command?.[0] === "node");

test("the six processes start with the settings that they get, and read each of them", async () => {
  expect(processes.map(([name]) => name).toSorted()).toEqual([
    "event",
    "gateway",
    "identity",
    "metric",
    "profile",
    "webhook",
  ]);
  const checked = processes.map(async ([name, { command = [], environment = {} }]) => {
    const texts = Object.entries(environment).map(([key, value]): [string, string] => [key, String(value)]);
    const { names, problems } = await readSettingsOf(command[1] ?? "", Object.fromEntries(texts));
    const unread = texts.map(([key]) => key).filter((key) => key !== "NODE_OPTIONS" && !names.has(key));
    return [...problems, ...unread].map((fault) => `${name}: ${fault}`);
  });
  expect((await Promise.all(checked)).flat()).toEqual([]);
});

test("every address in the settings is that of a container, with one NATS server and with three", () => {
  const cluster = readFileSync("deploy/docker/nats-cluster.env", "utf8").matchAll(/^(\w+)=(.*)$/gm);
  const three = readCompose({ ...given, ...Object.fromEntries([...cluster].map(([, name, value]) => [name, value])) });
  for (const { services } of [compose, three]) {
    const urls = Object.values(services).flatMap(({ environment = {} }) =>
      Object.entries(environment).filter(([name]) => name !== "PUBLIC_URL" && name.endsWith("_URL")),
    );
    const hosts = urls.flatMap(([, value]) =>
      String(value)
        .split(",")
        .map((url) => new URL(url).hostname),
    );
    expect(hosts.filter((host) => !services[host])).toEqual([]);
  }
  expect(three.services["event"]?.environment).toMatchObject({ NATS_REPLICAS: "3" });
});

test("a missing secret is said before anything starts", () => {
  expect(() => readCompose({ ...given, INTERNAL_TOKEN: undefined as never })).toThrow(/INTERNAL_TOKEN is missing/);
  expect(() => readCompose({ ...given, DATABASE_PASSWORD: undefined as never })).toThrow(
    /DATABASE_PASSWORD is missing/,
  );
});

test("processes and NATS have a read-only root, no capabilities, and no way out of their network, but for webhooks", () => {
  const restricted = containers.filter(([name]) => name.startsWith("nats") || processes.some(([own]) => own === name));
  expect(restricted.length).toBe(10);
  for (const [name, { read_only: isReadOnly, cap_drop: dropped, security_opt: options }] of restricted) {
    expect([name, isReadOnly, dropped, options]).toEqual([name, true, ["ALL"], ["no-new-privileges:true"]]);
  }
  expect(compose.networks["mesh"]?.internal).toBe(true);
  const open = containers.filter(([, { networks }]) => networks.includes("public")).map(([name]) => name);
  expect(open).toEqual(["gateway", "grafana"]);
  // What answers them is on no other network with the way out.
  const outward = containers.filter(([, { networks }]) => networks.includes("egress"));
  expect(outward.map(([name, { networks }]) => [name, networks])).toEqual([["webhook", ["mesh", "egress"]]]);
  const ports = containers.flatMap(([, container]) => container.ports ?? []);
  expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
});

test("images have versions, and the files, volumes and probes that are named are there", () => {
  for (const [name, { image, volumes = [], healthcheck, stop_grace_period: grace }] of containers) {
    expect([name, image]).toEqual([name, expect.stringMatching(/^daybook:local$|:v?\d+\.\d+/)]);
    for (const volume of volumes) {
      const [source = ""] = volume.split(":");
      const isThere = source.startsWith("./") ? existsSync(join("deploy", source)) : source in compose.volumes;
      expect([name, source, isThere]).toEqual([name, source, true]);
    }
    if (!processes.some(([own]) => own === name)) continue;
    expect([name, healthcheck?.test.join(" "), grace]).toEqual([name, expect.stringContaining("/health/ready"), "40s"]);
  }
});

test("Prometheus asks every process at its internal port", () => {
  const { scrape_configs: jobs } = parse(readFileSync("deploy/docker/prometheus.yaml", "utf8")) as {
    scrape_configs: { job_name: string; dns_sd_configs: { names: string[]; port: number }[] }[];
  };
  expect(jobs.map(({ job_name: name }) => name)).toEqual(["daybook"]);
  const asked = new Map(
    jobs.flatMap(({ dns_sd_configs: found }) => found.map(({ names, port }) => [names[0], port] as const)),
  );
  const wanted = new Map(processes.map(([name, { environment }]) => [name, environment?.["INTERNAL_PORT"] ?? 9100]));
  expect(asked).toEqual(wanted);
});
