/** Scans JSON text before it is parsed: checks its limits, and finds where it can be split to be parsed in steps. */
import { count } from "../values/count.ts";

/** Deeper text is refused unparsed, so that recursion can neither exhaust the stack nor take long. */
const depthMax = 1000;
/**
 * Text with more keys in one object is refused unparsed, because each pass over an object takes about 2 µs a key. A
 * stored object has at most 256 KiB, at 6 bytes or more for a key with its value, so it has fewer keys.
 */
const keysMax = 45_000;
// A double may not hold so many digits.
const digitsExact = 16;

const code = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  minus: 0x2d,
  point: 0x2e,
  zero: 0x30,
  nine: 0x39,
  e: 0x65,
  E: 0x45,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

const space: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Consecutive elements of an array, without its brackets. */
export interface Run {
  start: number;
  end: number;
  /** The path of its array, once a value replaces each run: indexes, and quoted keys. Runs of an array share it. */
  list: readonly (number | string)[];
  /** Whether it has numbers that a double may not hold. */
  mayLose: boolean;
}

/** Limits of a text. */
export interface ExtentOptions {
  valuesMax: number;
  /** Minimum bytes of a run; runs do not overlap. */
  runBytesMin: number;
}

/** An open object or array. One frame for each depth is reused, because there may be millions of objects. */
class Frame {
  keys = 0;
  isArray = false;
  start = 0;
  // The bounds of the last key.
  keyStart = 0;
  keyEnd = 0;
  // The current run: its start, the index of its first and of its current element, the numbers before it that a double
  // may not hold, and whether it contains another run.
  runStart = 0;
  runIndex = 0;
  index = 0;
  losingBefore = 0;
  holdsRun = false;

  open(at: number, isArray: boolean, losing: number): void {
    this.keys = 0;
    this.isArray = isArray;
    this.start = at;
    this.beginRun(at + 1, 0, losing);
  }

  beginRun(start: number, index: number, losing: number): void {
    this.runStart = start;
    this.runIndex = index;
    this.index = index;
    this.losingBefore = losing;
    this.holdsRun = false;
  }
}

/** Counts brackets, commas and colons outside of strings. It may miscount what the parser later refuses. */
export class Extent {
  readonly runs: Run[] = [];
  readonly #bytes: Buffer;
  readonly #valuesMax: number;
  readonly #runBytesMin: number;
  #at = 0;
  #values = 0;
  // Numbers that a double may not hold: all of them, and those within runs.
  #losing = 0;
  #losingInRuns = 0;
  // Consecutive digits and points before this byte.
  #digits = 0;
  #isText = false;
  #textStart = 0;
  // By depth; the first is for what is outside of the root value.
  readonly #frames = [new Frame()];
  #depth = 0;
  #frame = this.#frames[0] as Frame;
  // The start and the path of the array of the last run.
  #lastList: { start: number; path: Run["list"] } | undefined;

  constructor(bytes: Buffer, { valuesMax, runBytesMin }: ExtentOptions) {
    this.#bytes = bytes;
    this.#valuesMax = valuesMax;
    this.#runBytesMin = runBytesMin;
  }

  /** Whether a double may not hold a number outside of all runs. */
  get mayLose(): boolean {
    return this.#losing > this.#losingInRuns;
  }

  /**
   * Scans up to an offset.
   * @throws SyntaxError when a limit is exceeded.
   */
  scan(to: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let digits = this.#digits;
    let isText = this.#isText;
    for (; at < to; at++) {
      const byte = bytes[at] as number;
      if (isText) {
        if (byte === code.backslash) at++;
        else if (byte === code.quote) isText = false;
        continue;
      }
      if ((byte >= code.zero && byte <= code.nine) || byte === code.point) {
        if (++digits === digitsExact) this.#losing++;
        continue;
      }
      if (digits > 0 && (byte === code.e || byte === code.E)) this.#losing++;
      digits = 0;
      if (byte === code.minus && bytes[at + 1] === code.zero) this.#losing++;
      else if (byte === code.quote) {
        isText = true;
        this.#textStart = at;
      } else if (byte === code.comma) this.#comma(at);
      else if (byte === code.colon) this.#colon(at);
      else if (byte === code.openBrace || byte === code.openBracket) this.#open(at, byte === code.openBracket);
      else if (byte === code.closeBrace || byte === code.closeBracket) this.#close(at);
    }
    this.#at = at;
    this.#digits = digits;
    this.#isText = isText;
    if (this.#values > this.#valuesMax)
      throw new SyntaxError(`The body must have at most ${count(this.#valuesMax)} values.`);
  }

  #comma(at: number): void {
    this.#values++;
    const frame = this.#frame;
    if (!frame.isArray) return;
    if (at - frame.runStart >= this.#runBytesMin) {
      this.#endRun(at);
      frame.beginRun(at + 1, frame.index + 1, this.#losing);
    } else frame.index++;
  }

  #colon(at: number): void {
    const frame = this.#frame;
    if (++frame.keys > keysMax)
      throw new SyntaxError(`The body must have at most ${count(keysMax)} keys in one object.`);
    frame.keyStart = this.#textStart;
    frame.keyEnd = at;
  }

  #open(at: number, isArray: boolean): void {
    this.#values++;
    if (++this.#depth > depthMax)
      throw new SyntaxError(`The body must be nested at most ${count(depthMax)} levels deep.`);
    this.#frame = this.#frames[this.#depth] ??= new Frame();
    this.#frame.open(at, isArray, this.#losing);
  }

  #close(at: number): void {
    if (this.#depth === 0) return;
    if (this.#frame.isArray && at - this.#frame.runStart >= this.#runBytesMin) this.#endRun(at);
    this.#frame = this.#frames[--this.#depth] as Frame;
  }

  /** Adds the current run, unless it contains another or is blank. */
  #endRun(end: number): void {
    const frame = this.#frame;
    const start = frame.runStart;
    if (frame.holdsRun || this.#isBlank(start, end)) return;
    const losing = this.#losing - frame.losingBefore;
    this.#losingInRuns += losing;
    this.runs.push({ start, end, list: this.#list(), mayLose: losing > 0 });
    // The placeholder counts as one element.
    frame.index = frame.runIndex;
    for (const above of this.#frames.slice(0, this.#depth)) above.holdsRun = true;
  }

  /** The path of the open array. */
  #list(): Run["list"] {
    const { start } = this.#frame;
    if (this.#lastList?.start !== start) {
      const path = this.#frames.slice(1, this.#depth).map((frame) => this.#stepOf(frame));
      this.#lastList = { start, path };
    }
    return this.#lastList.path;
  }

  #stepOf({ isArray, index, keyStart, keyEnd }: Frame): number | string {
    return isArray ? index : this.#bytes.toString("utf8", keyStart, keyEnd);
  }

  #isBlank(start: number, end: number): boolean {
    let at = start;
    while (at < end && space.has(this.#bytes[at] as number)) at++;
    return at === end;
  }
}
