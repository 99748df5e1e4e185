/** What there is in a text of JSON, counted before it is read: its limits, and where it can be cut to be read in steps. */
import { count } from "./values/count.ts";

/** Deeper text is refused unread, so that nothing which goes down the nesting can be made to take long or to run out of stack. */
const depthMax = 1000;
/**
 * Text with more keys in one object is refused unread: an object takes about two microseconds a key each time it is gone through. What is kept of
 * anybody takes at most 256 KiB, and a key with its value at least 6 bytes, so nothing that could be kept has as many.
 */
const keysMax = 45_000;
// With so many digits, a double may be another number.
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

/** Elements of an array, one after the other, without the brackets around them. */
export interface Run {
  start: number;
  end: number;
  /**
   * Where its array stands once each run is replaced by one value: indexes, and keys as they are written, with quotes. The same object for all runs
   * of an array.
   */
  list: readonly (number | string)[];
  /** Whether there are numbers in it that a double may not hold. */
  mayLose: boolean;
}

/** Limits of a text. */
export interface ExtentOptions {
  valuesMax: number;
  /** Bytes of a run at least; none overlaps another. */
  runBytesMin: number;
}

/** Counts brackets, commas and colons outside of strings. What is not JSON may be counted wrong, and is refused later. */
export class Extent {
  readonly runs: Run[] = [];
  readonly #bytes: Buffer;
  readonly #valuesMax: number;
  readonly #runBytesMin: number;
  #at = 0;
  #depth = 0;
  #values = 0;
  // Numbers that a double may not hold, in all and within runs.
  #losing = 0;
  #losingInRuns = 0;
  // Digits and points up to here.
  #digits = 0;
  #isText = false;
  #textStart = 0;
  // Of the object or array that is open at each depth.
  readonly #keys = new Uint32Array(depthMax + 1);
  readonly #isArray = new Uint8Array(depthMax + 1);
  readonly #keyStart = new Uint32Array(depthMax + 1);
  readonly #keyEnd = new Uint32Array(depthMax + 1);
  // Of the run that is under way there: where it begins, the place of its first element and of this one, and whether it holds another run.
  readonly #runStart = new Uint32Array(depthMax + 1);
  readonly #runIndex = new Uint32Array(depthMax + 1);
  readonly #index = new Uint32Array(depthMax + 1);
  readonly #losingBefore = new Uint32Array(depthMax + 1);
  readonly #listStart = new Uint32Array(depthMax + 1);
  // Of the last run: where its array begins, and where that stands.
  #lastList: { start: number; path: Run["list"] } | undefined;
  readonly #holdsRun = new Uint8Array(depthMax + 1);

  constructor(bytes: Buffer, { valuesMax, runBytesMin }: ExtentOptions) {
    this.#bytes = bytes;
    this.#valuesMax = valuesMax;
    this.#runBytesMin = runBytesMin;
  }

  /** Whether there are numbers outside of all runs that a double may not hold. */
  get mayLose(): boolean {
    return this.#losing > this.#losingInRuns;
  }

  /**
   * Goes on to an offset.
   * @throws SyntaxError when there is too much.
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
    const depth = this.#depth;
    if (!this.#isArray[depth]) return;
    if (at - (this.#runStart[depth] as number) >= this.#runBytesMin) {
      this.#endRun(at);
      this.#beginRun(at + 1, (this.#index[depth] as number) + 1);
    } else this.#index[depth] = (this.#index[depth] as number) + 1;
  }

  #colon(at: number): void {
    const depth = this.#depth;
    const keys = (this.#keys[depth] as number) + 1;
    if (keys > keysMax) throw new SyntaxError(`The body must have at most ${count(keysMax)} keys in one object.`);
    this.#keys[depth] = keys;
    this.#keyStart[depth] = this.#textStart;
    this.#keyEnd[depth] = at;
  }

  #open(at: number, isArray: boolean): void {
    this.#values++;
    if (++this.#depth > depthMax)
      throw new SyntaxError(`The body must be nested at most ${count(depthMax)} levels deep.`);
    this.#keys[this.#depth] = 0;
    this.#isArray[this.#depth] = Number(isArray);
    this.#listStart[this.#depth] = at;
    this.#beginRun(at + 1, 0);
  }

  #close(at: number): void {
    const depth = this.#depth;
    if (depth <= 0) return;
    if (this.#isArray[depth] && at - (this.#runStart[depth] as number) >= this.#runBytesMin) this.#endRun(at);
    this.#depth--;
  }

  #beginRun(start: number, index: number): void {
    const depth = this.#depth;
    this.#runStart[depth] = start;
    this.#runIndex[depth] = index;
    this.#index[depth] = index;
    this.#losingBefore[depth] = this.#losing;
    this.#holdsRun[depth] = 0;
  }

  /** Notes the run that is under way, unless it holds others, or nothing. */
  #endRun(end: number): void {
    const depth = this.#depth;
    const start = this.#runStart[depth] as number;
    if (this.#holdsRun[depth] || this.#isBlank(start, end)) return;
    const losing = this.#losing - (this.#losingBefore[depth] as number);
    this.#losingInRuns += losing;
    this.runs.push({ start, end, list: this.#list(), mayLose: losing > 0 });
    // It is one element from now on.
    this.#index[depth] = this.#runIndex[depth] as number;
    this.#holdsRun.fill(1, 0, depth);
  }

  /** Where the array stands that is open. */
  #list(): Run["list"] {
    const start = this.#listStart[this.#depth] as number;
    if (this.#lastList?.start !== start) {
      const path = Array.from({ length: this.#depth - 1 }, (_, above) => this.#stepAt(above + 1));
      this.#lastList = { start, path };
    }
    return this.#lastList.path;
  }

  #stepAt(depth: number): number | string {
    if (this.#isArray[depth]) return this.#index[depth] as number;
    return this.#bytes.toString("utf8", this.#keyStart[depth], this.#keyEnd[depth]);
  }

  #isBlank(start: number, end: number): boolean {
    let at = start;
    while (at < end && space.has(this.#bytes[at] as number)) at++;
    return at === end;
  }
}
