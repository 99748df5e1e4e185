/** Runs contestants alternately, so that other load of the machine affects all alike. */
import { setTimeout as sleep } from "node:timers/promises";

/** Result of a contestant's run. */
export interface Run {
  /** Requests or rows. */
  items: number;
  elapsedS: number;
  /** Latencies, if the contestant answers requests. */
  p50Ms?: number;
  p99Ms?: number;
}

export interface Contestant {
  name: string;
  run(seconds: number): Promise<Run>;
  /** CPU seconds of its server process so far; NaN without one. */
  cpuSeconds(): Promise<number>;
  /** Waits until the work of a run is finished, so that it does not slow the next contestant. Its CPU time counts. */
  settle?(): Promise<void>;
  /** Rows recorded so far; a run must add as many as its items. Absent for readers. */
  countRows?(): Promise<number>;
}

/** One contestant's figures in one round. */
export interface Sample {
  perSecond: number;
  p50Ms: number | undefined;
  p99Ms: number | undefined;
  cpuSecondsPer1000: number;
}

/** Options of compare. */
export interface Rounds {
  rounds: number;
  seconds: number;
  signal: AbortSignal;
  /** Called before each run, to bring the database into the same state. */
  beforeRun: () => Promise<void>;
}

// Until the JIT compiler has settled.
const warmUpSeconds = 5;
const pauseMs = 200;

/**
 * Runs every contestant once per round after a warm-up, in an order that rotates each round.
 * @returns samples by contestant, in order of the rounds.
 * @throws Error if a contestant's answers and its table differ in rows.
 */
export async function compare(contestants: readonly Contestant[], options: Rounds): Promise<Map<string, Sample[]>> {
  const samples = new Map(contestants.map(({ name }): [string, Sample[]] => [name, []]));
  for (const contestant of contestants) await measure(contestant, warmUpSeconds, options);
  for (let round = 0; round < options.rounds; round++) {
    for (const index of contestants.keys()) {
      const contestant = contestants[(index + round) % contestants.length];
      if (!contestant) continue;
      const sample = await measure(contestant, options.seconds, options);
      samples.get(contestant.name)?.push(sample);
    }
  }
  return samples;
}

async function measure(contestant: Contestant, seconds: number, { signal, beforeRun }: Rounds): Promise<Sample> {
  await beforeRun();
  await sleep(pauseMs, undefined, { signal });
  const rowsBefore = await contestant.countRows?.();
  const cpuBefore = await contestant.cpuSeconds();
  const run = await contestant.run(seconds);
  await contestant.settle?.();
  const cpuSeconds = (await contestant.cpuSeconds()) - cpuBefore;
  const rowsAfter = await contestant.countRows?.();
  if (rowsBefore !== undefined && rowsAfter !== rowsBefore + run.items) {
    const added = (rowsAfter ?? 0) - rowsBefore;
    throw new Error(`${contestant.name} answered for ${run.items} rows and recorded ${added}`);
  }
  return {
    perSecond: run.items / run.elapsedS,
    p50Ms: run.p50Ms,
    p99Ms: run.p99Ms,
    cpuSecondsPer1000: (cpuSeconds / run.items) * 1000,
  };
}
