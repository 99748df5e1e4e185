/** Reads the command line of the demo. */
import { parseArgs } from "node:util";

export interface Options {
  seed: number | undefined;
  people: number | undefined;
  days: number | undefined;
}

/** The command line is not valid. */
export class UsageError extends Error {}

export const defaults = { seed: 1, people: 3000, days: 365 };

const limits = {
  seed: { min: 0, max: 2_147_483_647 },
  people: { min: 10, max: 20_000 },
  days: { min: 7, max: 730 },
};

export const help = `Fills the test property of a running Daybook with the store of a made-up tea shop.

  npm run demo -- [--people ${defaults.people}] [--days ${defaults.days}] [--seed ${defaults.seed}]

  --people <number>   who visits the store, ${limits.people.min} to ${limits.people.max}
  --days <number>     how far back its history goes, ${limits.days.min} to ${limits.days.max}
  --seed <number>     another seed makes other people, with other orders

It fills the Daybook that npm start runs on DATA_DIR (.daybook unless it is set), or the one at DAYBOOK_URL with the
key in DAYBOOK_KEY. Run again, it goes on where it was stopped, and makes nothing twice.
`;

/** @returns undefined if help is wanted. @throws UsageError */
export function readOptions(args: string[]): Options | undefined {
  const { help: isHelpWanted, ...texts } = parse(args);
  if (isHelpWanted === true) return undefined;
  const read = (name: keyof typeof limits): number | undefined => {
    const text = texts[name];
    if (text === undefined) return undefined;
    const { min, max } = limits[name];
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new UsageError(`--${name} is a whole number from ${min} to ${max}.`);
  };
  return { seed: read("seed"), people: read("people"), days: read("days") };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        seed: { type: "string" },
        people: { type: "string" },
        days: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
