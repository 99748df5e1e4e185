/** Collects all faults of a request, each with a JSON pointer into the body. */
import { DaybookError, type ErrorCode, type FieldError } from "#shared/values/errors.ts";

/** Per resource. Callers who fix these get the others with the next attempt. */
const faultsMax = 20;
/** Of a bulk request, with up to faultsMax for each entry. Past this, each entry gets one fault. */
const faultsInFullMax = 1_000;
/** One more fault for each entry of the largest bulk request. */
const bulkFaultsMax = 11_000;
// A key may be as long as a body, and pointers to all its descendants contain it.
const pointerLengthMax = 1_000;

/** An error with more faults than other surfaces list. */
export class Refusal extends DaybookError {
  readonly every: readonly FieldError[];

  constructor(faults: readonly FieldError[]) {
    const [first] = faults;
    if (!first) throw new RangeError("nothing is at fault");
    super(first.code, first.message, { param: first.param });
    this.every = faults;
  }
}

/** Collects faults up to a limit, because finding more is wasted work. */
export class Faults {
  readonly #found: FieldError[] = [];
  readonly #rename: (pointer: string) => string;
  // Number of faults when the current entry began; undefined for a single resource.
  #entryBegin: number | undefined;

  /** @param rename maps pointers to the body as it was sent, if a converted body is read. */
  constructor(rename: (pointer: string) => string = (pointer) => pointer) {
    this.#rename = rename;
  }

  beginEntry(): void {
    this.#entryBegin = this.#found.length;
  }

  /** Whether one fault for each further entry suffices. */
  get isBrief(): boolean {
    return this.#entryBegin !== undefined && this.#entryBegin >= faultsInFullMax;
  }

  /** Number of faults that are still accepted. */
  get room(): number {
    const found = this.#found.length;
    if (this.#entryBegin === undefined) return faultsMax - found;
    const entryMax = this.isBrief ? 1 : faultsMax;
    return Math.min(bulkFaultsMax - found, entryMax - (found - this.#entryBegin));
  }

  /** @param pointer JSON pointer into the body, such as `/data/attributes/email`. */
  add(pointer: string, message: string, code: ErrorCode = "parameter_invalid"): void {
    if (this.room > 0) this.#found.push({ code, message, param: shorten(this.#rename(pointer)) });
  }

  /** @throws Refusal if there are any. */
  check(): void {
    if (this.#found.length > 0) throw new Refusal(this.#found);
  }
}

/** A pointer, or its longest ancestor within the limit. */
function shorten(pointer: string): string {
  return pointer.length <= pointerLengthMax ? pointer : pointer.slice(0, pointer.lastIndexOf("/", pointerLengthMax));
}

/** The end of a JSON pointer, escaped as in RFC 6901. */
export function pointerTo(path: readonly (string | number)[]): string {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
