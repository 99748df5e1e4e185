/**
 * JSON without loss. Numbers that a double cannot hold (`12345678901234567890`, `1e999`, `0.10`… with 20 digits) keep their
 * own text: they are read as JSON.rawJSON objects, which JSON.stringify writes back as they were.
 */

/** Any value that JSON.parse can give. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** What is wrong with a value that a limit or a rule refuses. */
export interface JsonProblem {
  /** Where, as keys and indexes from the root of the value. */
  path: string[];
  /** What, as the end of a sentence that starts with the place. */
  reason: string;
}

// In TypeScript's library only from ES2026 on.
interface JsonWithSource {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
}
const jsonWithSource = JSON as unknown as JsonWithSource;

// A number of 16 digits or more, one with an exponent, and a negative zero may not survive a double. What looks like one inside a string
// is a false alarm, which costs only time.
const mayLoseDigits = /(?:^|[[:,\s])-?(?:\d[\d.]{15}|[\d.]+[eE])|(?:^|[[:,\s])-0(?:$|[.,\]}\s])/;

/**
 * Reads JSON text.
 * @throws SyntaxError when it is not JSON.
 */
export function parseJson(text: string): unknown {
  return mayLoseDigits.test(text) ? parseExactly(text) : JSON.parse(text);
}

/** As parseJson, of a text whose numbers may not survive a double. */
export function parseExactly(text: string): unknown {
  return jsonWithSource.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && !isExact(value, source)
      ? jsonWithSource.rawJSON(source)
      : value,
  );
}

/** Whether a value read by parseJson is a JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !jsonWithSource.isRawJSON(value);
}

/** The reason of a problem that is too deep a nesting. */
export const tooDeepReason = "is nested too deeply";

/**
 * Looks for what PostgreSQL or a later reader could not keep: nesting below `depthMax` levels, U+0000, and surrogates
 * that stand alone. Never goes deeper than `depthMax`, so no input can exhaust the stack.
 */
export function findJsonProblem(value: unknown, depthMax: number): JsonProblem | undefined {
  return findJsonProblems(value, depthMax, 1)[0];
}

/** As findJsonProblem, all of them up to so many. */
export function findJsonProblems(value: unknown, depthMax: number, problemsMax: number): JsonProblem[] {
  if (typeof value === "string") {
    const reason = textProblem(value);
    return reason === undefined ? [] : [{ path: [], reason }];
  }
  if (typeof value !== "object" || value === null || jsonWithSource.isRawJSON(value)) return [];
  if (depthMax <= 0) return [{ path: [], reason: tooDeepReason }];
  const problems: JsonProblem[] = [];
  for (const [key, child] of Object.entries(value)) {
    const reason = Array.isArray(value) ? undefined : textProblem(key);
    // The key itself cannot be repeated in an answer.
    if (reason !== undefined) problems.push({ path: [], reason: `has a key that ${reason}` });
    else {
      for (const problem of findJsonProblems(child, depthMax - 1, problemsMax - problems.length)) {
        problems.push({ path: [key, ...problem.path], reason: problem.reason });
      }
    }
    if (problems.length >= problemsMax) break;
  }
  return problems;
}

/**
 * Whether findJsonProblems may find anything in the value of a JSON text. A quick look, as to go through a value takes longer than to read it, and
 * nearly all are good.
 */
export function mayHaveProblems(json: string, depthMax: number): boolean {
  // JSON has U+0000 only as an escape; surrogates that stand alone may be escaped or not.
  if (json.includes("\\u0000") || /\\u[dD]/.test(json) || !json.isWellFormed()) return true;
  let brackets = 0;
  for (const bracket of ["{", "["]) {
    for (let at = json.indexOf(bracket); at >= 0; at = json.indexOf(bracket, at + 1)) {
      if (++brackets > depthMax) return true;
    }
  }
  return false;
}

/** Whether a value stands for a number that a double does not hold. */
export function isRawNumber(value: unknown): boolean {
  return jsonWithSource.isRawJSON(value);
}

/**
 * A text that two values have in common exactly when they are equal as JSON: the order of keys does not count, nor how a number is written.
 * Goes down the nesting, so the depth of the value must be limited.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === "number") return canonicalNumber(JSON.stringify(value));
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (jsonWithSource.isRawJSON(value)) return canonicalNumber(JSON.stringify(value));
  const members = Object.entries(value).map(([key, child]) => `${JSON.stringify(key)}:${canonicalJson(child)}`);
  return `{${members.toSorted().join(",")}}`;
}

const exponentLengthMax = 12;

/** A number as its significant digits and the power of ten of the last of them. */
function canonicalNumber(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  // An expression for it would look at each run of zeros from every zero on.
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  const significant = digits.slice(0, end);
  if (significant === "") return "0";
  // Beyond any use, and too long to calculate with: such numbers are the same when they are written the same.
  if (exponent.length > exponentLengthMax) return text;
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Why a text cannot be kept, or undefined when it can. */
export function textProblem(text: string): string | undefined {
  if (text.includes("\0")) return "holds U+0000, which cannot be stored";
  if (!text.isWellFormed()) return "holds half of a surrogate pair, which is no character";
  return undefined;
}

function isExact(value: number, source: string): boolean {
  // JSON.stringify would write `0` for `-0` and `null` for an overflow. Anything else is exact if its shortest text is the same.
  return String(value) === source && !Object.is(value, -0);
}
