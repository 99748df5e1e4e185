/** What is wrong with a request: everything, not only the first, each with a pointer into the body. */
import { DaybookError, type ErrorCode, type FieldError } from "#shared/values/errors.ts";

/** Of one resource: who mends these sends it again, and is told the rest. */
const faultsMax = 20;
/** Of a bulk request, while every entry is told of like a resource of its own. Beyond them one of each entry is enough to drop it for. */
const faultsInFullMax = 1_000;
/** Enough for each entry of the largest bulk request. */
const bulkFaultsMax = 11_000;
// A key may be as long as a body, and stand in the pointers to all that is within it.
const pointerLengthMax = 1_000;

/** A refusal with more fields at fault than other surfaces list. */
export class Refusal extends DaybookError {
  readonly every: readonly FieldError[];

  constructor(faults: readonly FieldError[]) {
    const [first] = faults;
    if (!first) throw new RangeError("nothing is at fault");
    super(first.code, first.message, { param: first.param });
    this.every = faults;
  }
}

/** Collects faults, up to a limit: what says nothing more is not worth the work of finding it. */
export class Faults {
  readonly #found: FieldError[] = [];
  readonly #rename: (pointer: string) => string;
  // How many of them were there when the entry began; undefined for a single resource.
  #entryBegin: number | undefined;

  /** @param rename gives pointers into the body as it was sent, when another is read in its place. */
  constructor(rename: (pointer: string) => string = (pointer) => pointer) {
    this.#rename = rename;
  }

  /** Begins the next entry of a bulk request. */
  beginEntry(): void {
    this.#entryBegin = this.#found.length;
  }

  /** Whether it is enough to say of an entry that it is bad. */
  get isBrief(): boolean {
    return this.#entryBegin !== undefined && this.#entryBegin >= faultsInFullMax;
  }

  /** How many more are taken. */
  get room(): number {
    const found = this.#found.length;
    if (this.#entryBegin === undefined) return faultsMax - found;
    const entryMax = this.isBrief ? 1 : faultsMax;
    return Math.min(bulkFaultsMax - found, entryMax - (found - this.#entryBegin));
  }

  /** @param pointer into the body, such as `/data/attributes/email`. */
  add(pointer: string, message: string, code: ErrorCode = "parameter_invalid"): void {
    if (this.room > 0) this.#found.push({ code, message, param: shorten(this.#rename(pointer)) });
  }

  /** @throws Refusal if there are any. */
  check(): void {
    if (this.#found.length > 0) throw new Refusal(this.#found);
  }
}

/** A pointer, or the longest that leads there and is not too long. */
function shorten(pointer: string): string {
  return pointer.length <= pointerLengthMax ? pointer : pointer.slice(0, pointer.lastIndexOf("/", pointerLengthMax));
}

/** The end of a pointer: keys, each escaped as RFC 6901 has it. */
export function pointerTo(path: readonly (string | number)[]): string {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
