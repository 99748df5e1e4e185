/** Two overlays as pods, restricted as the manifests say: they record, count, and survive the loss of any replica. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { expectCounted, recordEvents, type Recording } from "./client.ts";
import { buildImages } from "./images.ts";
import { isReady, playOverlay, type Played, type Replica } from "./play.ts";
import { openPodman, type Podman } from "./podman.ts";
import { execute, startStores } from "./stores.ts";

const overlays = ["mesh", "compact"] as const;
const startTimeoutMs = 480_000;
let tools: Podman | undefined;
const started = new Map<string, Played>();

beforeAll(async () => {
  tools = await openPodman();
  await tools.podman("network", "create", tools.network);
  await buildImages(tools);
  const { superuserUrl, urlOf } = await startStores(tools);
  for (const name of overlays) await execute(superuserUrl, `CREATE DATABASE ${name} OWNER daybook`);
  const opened = tools;
  await Promise.all(overlays.map(async (name) => started.set(name, await playOverlay(opened, name, urlOf(name)))));
}, startTimeoutMs);
afterAll(() => tools?.close(), startTimeoutMs);

async function podman(...words: string[]): Promise<string> {
  return (await tools?.podman(...words)) ?? "";
}

function playedAs(overlay: (typeof overlays)[number]): Played {
  const played = started.get(overlay);
  if (!played) throw new Error(`${overlay} does not run`);
  return played;
}

function allReplicas({ replicas }: Played): Replica[] {
  return Object.values(replicas).flat();
}

/** The first or the second replica of each process. */
function replicasAt({ replicas }: Played, ordinal: 0 | 1): Replica[] {
  return Object.values(replicas).map((some) => some[ordinal] as Replica);
}

function publicUrl(played: Played): string {
  return (played.replicas["gateway"] ?? played.replicas["daybook"])?.[0]?.url ?? "";
}

/** Runs `change` while a client records. @returns what the client saw. */
async function recordDuring(
  played: Played,
  type: string,
  patience: Parameters<typeof recordEvents>[3]["patience"],
  change: () => Promise<void>,
): Promise<Recording> {
  const changing = change();
  const [recording] = await Promise.all([recordEvents(played, type, 200, { patience, until: changing }), changing]);
  return recording;
}

/** RecordEvents calls that an event replica has answered. */
async function recordingCalls({ internalUrl }: Replica): Promise<number> {
  const metrics = await (await fetch(`${internalUrl}/metrics`)).text();
  const lines = metrics.matchAll(/^daybook_rpc_duration_seconds_count\{([^}]*)\} (\d+)$/gm);
  return lines.reduce(
    (sum, [, labels = "", count]) => (labels.includes("RecordEvents") ? sum + Number(count) : sum),
    0,
  );
}

describe.each(overlays)("overlay %s", (overlay) => {
  test("has two replicas of each process, which can do what they need and nothing more", async () => {
    const played = playedAs(overlay);
    expect(Object.keys(played.replicas).length).toBe(overlay === "mesh" ? 6 : 1);
    const script = `
      const fs = require("node:fs");
      const status = fs.readFileSync("/proc/self/status", "utf8");
      const [, capabilities] = /^CapEff:\\s*(\\w+)$/m.exec(status);
      const [, noNewPrivileges] = /^NoNewPrivs:\\s*(\\d)$/m.exec(status);
      const canWrite = (path) => { try { fs.writeFileSync(path, ""); return true; } catch { return false; } };
      const first = fs.readFileSync("/proc/1/cmdline", "utf8").split("\\0")[0];
      const heapMib = require("node:v8").getHeapStatistics().heap_size_limit / 2 ** 20;
      const seen = { uid: process.getuid(), capabilities: Number("0x" + capabilities), noNewPrivileges, first,
        app: canWrite("/app/x"), tmp: canWrite("/tmp/x"), isHeapBounded: heapMib < 900 };
      console.log(JSON.stringify(seen));`;
    for (const { container } of allReplicas(played)) {
      const seen = JSON.parse(await podman("exec", container, "node", "-e", script)) as unknown;
      const wanted = { uid: 10_001, capabilities: 0, noNewPrivileges: "1", first: "node", isHeapBounded: true };
      expect([container, seen]).toEqual([container, { ...wanted, app: false, tmp: true }]);
    }
    expect(allReplicas(played).length).toBe(overlay === "mesh" ? 12 : 2);
  });

  test("1,000 events are answered, and counted once, and calls go evenly to both event replicas", async () => {
    const played = playedAs(overlay);
    const recording = await recordEvents(played, "cluster.first", 1000, { patience: "retries connection errors" });
    expect(recording).toEqual({ recorded: 1000, failures: [], retries: 0 });
    await expectCounted(played, publicUrl(played), "cluster.first", 1000);
    const calls = await Promise.all((played.replicas["event"] ?? []).map(recordingCalls));
    const sum = calls.reduce((total, some) => total + some, 0);
    for (const some of calls) {
      expect(some / sum, `calls of each replica: ${calls.join(", ")}`).toBeGreaterThan(0.4);
      expect(some / sum).toBeLessThan(0.6);
    }
  });

  test("the command line works within a pod", async () => {
    const replicas = allReplicas(playedAs(overlay)).filter(({ container }) => /^(?:gateway|daybook)-/.test(container));
    expect(replicas.length).toBe(2);
    const command = ["node", "gateway/cli/main.ts", "properties", "list"];
    const lists = await Promise.allSettled(replicas.map(({ container }) => podman("exec", container, ...command)));
    // podman gives replicas one emptyDir together, in which the single processes overwrite each other's address. On
    // Kubernetes each pod has its own.
    const found = lists.flatMap((list) => (list.status === "fulfilled" ? [list.value.match(/prop_/g)?.length] : []));
    expect([found.length >= (overlay === "mesh" ? 2 : 1), ...new Set(found)]).toEqual([true, 2]);
  });

  test("a replica of each process is killed, and no event is lost or counted twice", async () => {
    const played = playedAs(overlay);
    const recording = await recordDuring(
      played,
      "cluster.killed",
      "retries connection errors and retryable answers",
      async () => {
        for (const replica of replicasAt(played, 1)) {
          // As the kernel does it when memory runs out. Starting the container again is the part of a kubelet.
          process.kill(Number(await podman("inspect", "--format", "{{.State.Pid}}", replica.container)), "SIGKILL");
          await eventually(async () => {
            const running = await podman("inspect", "--format", "{{.State.Running}}", replica.container);
            return running === "false" ? true : undefined;
          });
          await podman("start", replica.container);
          await eventually(() => isReady(replica), {
            timeoutMs: 90_000,
            explain: () => `${replica.container} is away`,
          });
        }
      },
    );
    expect(recording.failures).toEqual([]);
    await expectCounted(played, publicUrl(played), "cluster.killed", recording.recorded);
  });

  test("a replica of each process is told to stop, and no client sees an error", async () => {
    const played = playedAs(overlay);
    const recording = await recordDuring(played, "cluster.drained", "retries connection errors", async () => {
      for (const { container } of replicasAt(played, 1)) {
        await podman("stop", "--time", "40", container);
        const exitCode = await podman("inspect", "--format", "{{.State.ExitCode}}", container);
        expect([container, exitCode]).toEqual([container, "0"]);
      }
    });
    expect(recording.failures).toEqual([]);
    await expectCounted(played, publicUrl(played), "cluster.drained", recording.recorded);
  });
});
