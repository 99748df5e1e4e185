/** What there is in a text of JSON, counted before it is read: its limits, and where it can be cut to be read in steps. */
import { count } from "../values/count.ts";

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

/** An object or array that is open. Those of one depth share one, as there may be millions. */
class Frame {
  keys = 0;
  isArray = false;
  start = 0;
  // Of its key that was read last.
  keyStart = 0;
  keyEnd = 0;
  // Of the run that is under way in it: where it begins, the place of its first element and of this one, the numbers before it that a double may
  // not hold, and whether it holds another run.
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

/** Counts brackets, commas and colons outside of strings. What is not JSON may be counted wrong, and is refused later. */
export class Extent {
  readonly runs: Run[] = [];
  readonly #bytes: Buffer;
  readonly #valuesMax: number;
  readonly #runBytesMin: number;
  #at = 0;
  #values = 0;
  // Numbers that a double may not hold, in all and within runs.
  #losing = 0;
  #losingInRuns = 0;
  // Digits and points up to here.
  #digits = 0;
  #isText = false;
  #textStart = 0;
  // By depth; the first stands for what is around the text.
  readonly #frames = [new Frame()];
  #depth = 0;
  #frame = this.#frames[0] as Frame;
  // Of the last run: where its array begins, and where that stands.
  #lastList: { start: number; path: Run["list"] } | undefined;

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

  /** Notes the run that is under way, unless it holds others, or nothing. */
  #endRun(end: number): void {
    const frame = this.#frame;
    const start = frame.runStart;
    if (frame.holdsRun || this.#isBlank(start, end)) return;
    const losing = this.#losing - frame.losingBefore;
    this.#losingInRuns += losing;
    this.runs.push({ start, end, list: this.#list(), mayLose: losing > 0 });
    // It is one element from now on.
    frame.index = frame.runIndex;
    for (const above of this.#frames.slice(0, this.#depth)) above.holdsRun = true;
  }

  /** Where the array stands that is open. */
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
