/** What is wrong with a request: everything, not only the first, each with a pointer into the body. */
import { DaybookError, type ErrorCode, type FieldError } from "#shared/errors.ts";

// Enough for each entry of the largest request to be named.
const faultsMax = 11_000;
const faultsInFullMax = 1_000;
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

const entryPattern = /^\/data\/attributes\/[^/]+\/data\/\d+/;

/** Collects faults. Once there are many, one of each entry is enough: a client drops the entry for any of them. */
export class Faults {
  readonly #found: FieldError[] = [];
  readonly #rename: (pointer: string) => string;
  #lastEntry = "";

  /** @param rename gives pointers into the body as it was sent, when another is read in its place. */
  constructor(rename: (pointer: string) => string = (pointer) => pointer) {
    this.#rename = rename;
  }

  /** @param pointer into the body, such as `/data/attributes/email`. */
  add(pointer: string, message: string, code: ErrorCode = "parameter_invalid"): void {
    const [entry = pointer] = entryPattern.exec(pointer) ?? [];
    const isEnough = this.#found.length >= faultsInFullMax && entry === this.#lastEntry;
    if (isEnough || this.#found.length >= faultsMax) return;
    this.#lastEntry = entry;
    this.#found.push({ code, message, param: shorten(this.#rename(pointer)) });
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
