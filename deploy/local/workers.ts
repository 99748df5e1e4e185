/**
 * Workers: processes that share the port of one `npm start` and its database, each all of Daybook. This process starts
 * them, replaces those that end, and gathers their metrics.
 */
import cluster, { type Worker } from "node:cluster";
import { join } from "node:path";
import { AggregatorRegistry, Registry, type MetricObject } from "prom-client";
import type { Closable } from "#shared/process/lifecycle.ts";
import type { Log } from "#shared/process/log.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { pause } from "#shared/scheduling/pause.ts";
import { freePort } from "./ports.ts";
import type { Addresses, Installation } from "./process.ts";
import type { LocalSettings } from "./settings.ts";

export interface Workers extends Closable {
  /**
   * Starts the first, which migrates the database, and then the others.
   * @returns where they serve, once one does.
   * @throws Error when the first does not start, or `stopping` is aborted.
   */
  start(stopping: AbortSignal): Promise<Addresses>;
  /** Rejects unless one of them is ready. */
  checkReady: () => Promise<void>;
  /** The metrics of all, each with the label `worker`. */
  registry: Pick<Registry, "contentType" | "metrics">;
}

/** What a worker is asked. */
export interface Question {
  id: number;
  about: "metrics" | "readiness";
}

/** What a worker says: that it serves, or an answer. */
export type Word = { ready: Addresses } | { id: number; answer: unknown };

/** What a worker knows from its environment alone, besides the settings of all. */
export const workerVariables = { number: "DAYBOOK_WORKER", servicesPort: "DAYBOOK_SERVICES_PORT" } as const;

const answerTimeoutMs = 5_000;
// A worker that ends sooner is replaced after a while, which doubles each time.
const briefMs = 10_000;
const replaceDelayMsMin = 250;
const replaceDelayMsMax = 30_000;

/** One place among the workers, whichever process has it. */
interface Place {
  number: number;
  worker: Worker | undefined;
  /** Whether it serves, so that it can be asked. */
  isServing: boolean;
  replaceDelayMs: number;
}

/** Makes workers, which `start` starts. */
export function createWorkers(settings: LocalSettings, installation: Installation, log: Log): Workers {
  const places = Array.from({ length: settings.workers }, (_, index): Place => {
    return { number: index + 1, worker: undefined, isServing: false, replaceDelayMs: replaceDelayMsMin };
  });
  const own = createRegistry();
  own.setDefaultLabels({ worker: "0" });
  const closing = new AbortController();
  const ended = new Set<Promise<void>>();
  const questions = new Map<number, (answer: unknown) => void>();
  let asked = 0;
  let env: Record<string, string> = {};

  /** Starts a worker, and replaces it when it ends. @param onServing is called each time that one serves. */
  function run(place: Place, onServing: (addresses: Addresses) => void, onFirstEnd?: () => void): void {
    const startedMs = performance.now();
    const worker = cluster.fork({ ...env, [workerVariables.number]: String(place.number) });
    place.worker = worker;
    // Each question that is open listens for its end.
    worker.setMaxListeners(0);
    worker.on("message", (word: Word) => {
      if ("ready" in word) {
        place.isServing = true;
        onServing(word.ready);
      } else questions.get(word.id)?.(word.answer);
    });
    const end = new Promise<void>((resolve) => {
      const over = (why: object): void => {
        if (place.worker !== worker) return;
        const wasServing = place.isServing;
        place.worker = undefined;
        place.isServing = false;
        resolve();
        ended.delete(end);
        if (closing.signal.aborted) return;
        if (!wasServing && onFirstEnd) return onFirstEnd();
        log.error({ worker: place.number, pid: worker.process.pid, ...why }, "a worker ended, and is replaced");
        void replace(place, performance.now() - startedMs, onServing);
      };
      worker.once("exit", (code, signal) => over({ code, signal }));
      // One that could not be started has no exit.
      worker.on("error", (error) => (worker.process.pid === undefined ? over({ err: error }) : undefined));
    });
    ended.add(end);
  }

  async function replace(place: Place, lastedMs: number, onServing: (addresses: Addresses) => void): Promise<void> {
    const isBrief = lastedMs < briefMs;
    const delayMs = isBrief ? place.replaceDelayMs : 0;
    place.replaceDelayMs = isBrief ? Math.min(replaceDelayMsMax, delayMs * 2) : replaceDelayMsMin;
    await pause(delayMs, closing.signal);
    if (!closing.signal.aborted) run(place, onServing);
  }

  /** Asks all that serve. @returns the answers of those that answer in time. */
  async function ask(about: Question["about"]): Promise<unknown[]> {
    const answers = places.map(async ({ worker, isServing }) => {
      if (!worker || !isServing) return undefined;
      const id = asked++;
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const giveUp = (): void => resolve(undefined);
      questions.set(id, resolve);
      const timer = setTimeout(giveUp, answerTimeoutMs);
      worker.once("exit", giveUp);
      worker.send({ id, about } satisfies Question, (error) => (error ? giveUp() : undefined));
      const answer = await promise;
      clearTimeout(timer);
      worker.off("exit", giveUp);
      questions.delete(id);
      return answer;
    });
    return (await Promise.all(answers)).filter((answer) => answer !== undefined);
  }

  return {
    async start(stopping) {
      stopping.throwIfAborted();
      const { databaseUrl, internalToken, acceptedToken, bootstrapKeys } = installation;
      env = {
        DATABASE_URL: databaseUrl,
        INTERNAL_TOKEN: acceptedToken === undefined ? internalToken : `${internalToken},${acceptedToken}`,
        BOOTSTRAP_LIVE_KEY: bootstrapKeys.live,
        BOOTSTRAP_TEST_KEY: bootstrapKeys.test,
        WORKERS: String(settings.workers),
        // The same for those that replace others, even if none is left that has the port.
        PORT: String(settings.port === 0 ? await freePort(settings.host) : settings.port),
        [workerVariables.servicesPort]: String(await freePort("127.0.0.1")),
      };
      // Each accepts for itself. A connection that this process handed to one that is killed meanwhile would stay open,
      // and nobody would answer it.
      cluster.schedulingPolicy = cluster.SCHED_NONE;
      cluster.setupPrimary({ exec: join(import.meta.dirname, "worker.ts") });
      const { promise, resolve, reject } = Promise.withResolvers<Addresses>();
      stopping.addEventListener("abort", () => reject(new Error("stopped while the first worker was starting")));
      const [first, ...others] = places as [Place, ...Place[]];
      run(first, resolve, () => reject(new Error("the first worker did not start")));
      const addresses = await promise;
      for (const place of others) run(place, () => undefined);
      return addresses;
    },
    async checkReady() {
      if (closing.signal.aborted || !(await ask("readiness")).includes(true)) throw new Error("no worker is ready");
    },
    registry: {
      contentType: Registry.PROMETHEUS_CONTENT_TYPE,
      async metrics() {
        const all = [await own.getMetricsAsJSON(), ...((await ask("metrics")) as MetricObject[][])];
        // Nothing is added up, as the labels differ.
        for (const metric of all.flat()) Object.assign(metric, { aggregator: "sum" });
        return AggregatorRegistry.aggregate(all).metrics();
      },
    },
    async close() {
      closing.abort();
      for (const { worker } of places) worker?.process.kill("SIGTERM");
      await Promise.all(ended);
    },
  };
}
