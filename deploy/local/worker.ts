/** A worker of `npm start`: all of Daybook, on a port that it shares. See workers.ts. */
import { runProcess } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { readSettings } from "#shared/process/config.ts";
import { readInternalTokens } from "#shared/process/service-process.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { startTracing } from "#shared/tracing/start.ts";
import { serveDaybook } from "./process.ts";
import { readLocalSettings } from "./settings.ts";
import { workerVariables, type Question, type Word } from "./workers.ts";

const number = process.env[workerVariables.number] ?? "";
const log = createLog("daybook", process.env.LOG_LEVEL ?? "warn").child({ worker: number });

const say = (word: Word): void => void process.send?.(word);

await runProcess(log, async (owner, stopping) => {
  const settings = readLocalSettings(process.env);
  const { databaseUrl, bootstrapKeys, port } = settings;
  const { live, test } = bootstrapKeys;
  if (databaseUrl === undefined || live === undefined || test === undefined) {
    throw new Error("a worker is started by npm start, with WORKERS");
  }
  owner.own(await startTracing(settings.tracing, "daybook", log));
  const registry = createRegistry();
  registry.setDefaultLabels({ worker: number });
  const { checkReady, ...addresses } = await serveDaybook(
    // The first has checked the server's settings before the others start.
    { ...settings, checksServer: number === "1" },
    { databaseUrl, ...readSettings(process.env, readInternalTokens), bootstrapKeys: { live, test } },
    { gateway: port, services: Number(process.env[workerVariables.servicesPort]) },
    { log, registry },
    owner,
    stopping,
  );
  const answerTo = async (about: Question["about"]): Promise<unknown> => {
    if (about === "metrics") return registry.getMetricsAsJSON();
    return checkReady().then(
      () => true,
      () => false,
    );
  };
  process.on("message", ({ id, about }: Question) => {
    void answerTo(about).then((answer) => say({ id, answer }));
  });
  say({ ready: addresses });
  log.info("a worker serves");
});
