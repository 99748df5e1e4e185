/** Runs the steps of a demo, some at a time, and keeps its mark up to date. */
import { Steps } from "#shared/scheduling/steps.ts";
import type { Client } from "./client.ts";
import { saveMarker, type Marker } from "./marker.ts";
import type { Progress } from "./progress.ts";
import { phasesOf, type Plan, type Step } from "./steps.ts";

/** The API works on as many batches of a property at a time. */
const stepsAtATime = 4;
const saveEveryMs = 1_000;
/** The API remembers keys of requests for 24 hours. */
const keysKnownMs = 20 * 3_600_000;

/**
 * Runs what is not done yet. When it fails, or is stopped, the mark says where to go on.
 * @throws DemoError if the API refuses something; the reason of `stopping` if that is aborted.
 */
export async function runDemo(
  client: Client,
  plan: Plan,
  marker: Marker,
  progress: Progress,
  stopping: AbortSignal,
): Promise<void> {
  const { seed, people, days, untilMs } = plan.settings;
  const keyOf = (index: number): string => `daybook-demo/${seed}/${people}/${days}/${untilMs}/${index}`;
  const mayBeForgotten = Date.now() - marker.savedMs > keysKnownMs;
  const done = createPrefix(marker.stepsDone);
  let savedMs = Date.now();
  let saving: Promise<void> = Promise.resolve();
  const save = (): Promise<void> => {
    savedMs = Date.now();
    saving = saving.then(() => saveMarker(client, { ...marker, stepsDone: done.length() }));
    return saving;
  };
  const run = async (index: number, step: Step): Promise<void> => {
    const isDone = mayBeForgotten && (await step.wasSent?.(client));
    if (!isDone) await step.send(client, keyOf(index));
    done.add(index);
    progress.add(step.units);
    if (Date.now() - savedMs >= saveEveryMs) await save();
  };

  const pauses = new Steps();
  let index = 0;
  for (const { name, steps } of phasesOf(plan)) {
    progress.begin(name);
    const remaining = steps();
    const work = async (): Promise<void> => {
      for (const step of remaining) {
        const at = index++;
        await pauses.next();
        stopping.throwIfAborted();
        if (at < marker.stepsDone) progress.skip(step.units);
        else await run(at, step);
      }
    };
    await Promise.all(Array.from({ length: stepsAtATime }, work));
    await save();
  }
  await saveMarker(client, { ...marker, stepsDone: index, isFinished: true });
}

/** Counts how many of the steps from the first on are done, in whatever order they are. */
function createPrefix(start: number): { add(index: number): void; length(): number } {
  let length = start;
  const beyond = new Set<number>();
  return {
    add(index) {
      beyond.add(index);
      while (beyond.delete(length)) length++;
    },
    length: () => length,
  };
}
