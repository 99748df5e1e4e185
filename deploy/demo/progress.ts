/** The progress of a demo: a bar on a terminal, a line every few seconds elsewhere. */

export interface Progress {
  begin(phase: string): void;
  /** Events and profiles that are there now. */
  add(units: number): void;
  /** The same, of an earlier run. */
  skip(units: number): void;
  /** Leaves the last state standing. */
  end(): void;
}

const barLength = 24;
const redrawMs = 100;
const lineMs = 5_000;

export function createProgress(output: NodeJS.WriteStream, total: number): Progress {
  let [done, skipped, phase] = [0, 0, ""];
  let shownMs = 0;
  const startedMs = Date.now();
  const show = (): void => {
    shownMs = Date.now();
    const text = describe(done, total, phase, secondsLeft());
    if (!output.isTTY) return void output.write(`${text}\n`);
    const bar = "█".repeat(Math.round((barLength * done) / total)).padEnd(barLength, "░");
    // Ends what the line had before.
    output.write(`\r${`${bar} ${text}`.slice(0, (output.columns || 80) - 1)}\u001B[K`);
  };
  const secondsLeft = (): number | undefined => {
    const [made, elapsedS] = [done - skipped, (Date.now() - startedMs) / 1000];
    return made === 0 || elapsedS < 2 ? undefined : Math.ceil(((total - done) * elapsedS) / made);
  };
  const showNowAndThen = (): void => {
    if (Date.now() - shownMs >= (output.isTTY ? redrawMs : lineMs)) show();
  };
  return {
    begin(name) {
      phase = name;
      showNowAndThen();
    },
    add(units) {
      done += units;
      showNowAndThen();
    },
    skip(units) {
      done += units;
      skipped += units;
    },
    end() {
      show();
      if (output.isTTY) output.write("\n");
    },
  };
}

function describe(done: number, total: number, phase: string, secondsLeft: number | undefined): string {
  const percent = Math.floor((100 * done) / Math.max(1, total));
  const left = secondsLeft === undefined || done === total ? "" : `, ${secondsLeft} s left`;
  return `${String(percent).padStart(3)} %  ${done.toLocaleString("en")} of ${total.toLocaleString("en")}, ${phase}${left}`;
}
