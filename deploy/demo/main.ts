/** `npm run demo`: fills the test property of a running Daybook with the history of a store. */
import { ConfigError } from "#shared/process/config.ts";
import { DemoError } from "./client.ts";
import { findTarget, type Target } from "./connection.ts";
import { claim, readMarker, type Marker } from "./marker.ts";
import { defaults, help, readOptions, UsageError, type Options } from "./options.ts";
import { createProgress } from "./progress.ts";
import { runDemo } from "./run.ts";
import { makePlan, type Plan } from "./steps.ts";
import { startOf } from "./story.ts";

/** The exit code of what SIGINT ended. */
const interrupted = 130;
const minuteMs = 60_000;

const stopping = new AbortController();
// On Ctrl+C both the terminal and npm send a signal. Unhandled, the second would kill the process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stopping.abort());

async function main(args: string[]): Promise<void> {
  const options = readOptions(args);
  if (!options) return say(help);
  const target = await findTarget(process.env, stopping.signal);
  const marker = await findMarker(target, options);
  const plan = await makePlan(marker, stopping.signal);
  if (marker.isFinished) return say(`The demo is there already.\n\n${summary(plan, target)}`);
  if (marker.stepsDone > 0) say("Going on where it was stopped.\n");
  const events = plan.eventsByType.values().reduce((sum, count) => sum + count, 0);
  const units = events + plan.profiles + 2 * plan.merges + plan.refused;
  const progress = createProgress(process.stdout, units);
  try {
    await runDemo(target.client, plan, marker, progress, stopping.signal);
  } finally {
    progress.end();
  }
  say(`\n${summary(plan, target)}`);
}

/** The mark that is there, if it fits the options, or a new one. */
async function findMarker({ client }: Target, options: Options): Promise<Marker> {
  const { seed = defaults.seed, people = defaults.people, days = defaults.days } = options;
  const untilMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  const marker = (await readMarker(client)) ?? (await claim(client, { seed, people, days, untilMs }));
  const differing = (["seed", "people", "days"] as const).find(
    (name) => (options[name] ?? marker[name]) !== marker[name],
  );
  if (differing === undefined) return marker;
  throw new DemoError(
    `This property has a demo of --people ${marker.people} --days ${marker.days} --seed ${marker.seed} already. ` +
      "A property takes one: use another test property, or leave the options out.",
  );
}

function summary(plan: Plan, { address, propertyId }: Target): string {
  const { settings, eventsByType, anonymous, profiles, merges, imported, refused } = plan;
  const events = eventsByType.values().reduce((sum, count) => sum + count, 0);
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const count = (value: number): string => value.toLocaleString("en").padStart(9);
  const lines = [
    `A tea shop from ${day(startOf(settings))} to ${day(settings.untilMs)}:`,
    "",
    `${count(events)}  events`,
    ...[...eventsByType].map(([type, number]) => `${count(number)}    ${type}`),
    `${count(anonymous)}    of them anonymous at first`,
    `${count(profiles)}  profiles`,
    `${count(merges)}    of them merged from two`,
    `${count(imported)}    of them imported, by a job that refused ${refused} others`,
    "",
    `Look at it: ${address}/dashboard/${propertyId}`,
  ];
  return `${lines.join("\n")}\n`;
}

function say(text: string): void {
  process.stdout.write(text);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = 1;
  if (stopping.signal.aborted) {
    process.exitCode = interrupted;
    process.stderr.write("Stopped. The same command goes on from here.\n");
  } else if (error instanceof UsageError) {
    process.exitCode = 2;
    process.stderr.write(`${error.message}\n\n${help}`);
  } else if (error instanceof DemoError || error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
  } else {
    throw error;
  }
}
