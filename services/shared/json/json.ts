/**
 * Lossless JSON. Numbers that a double cannot hold (`12345678901234567890`, `1e999`, `0.10`… with 20 digits) keep their
 * text: they are parsed as JSON.rawJSON objects, which JSON.stringify writes back unchanged.
 */

/** Any value that JSON.parse can give. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Why a limit or a rule refuses a value. */
export interface JsonProblem {
  /** Keys and indexes from the root of the value. */
  path: string[];
  /** The end of a sentence that starts with the path. */
  reason: string;
}

// TypeScript's library has these only from ES2026 on.
interface JsonWithSource {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
}
const jsonWithSource = JSON as unknown as JsonWithSource;

// A double may not hold a number of 16 digits or more, one with an exponent, or a negative zero. A match within a
// string is a false alarm, which costs only time.
const mayLoseDigits = /(?:^|[[:,\s])-?(?:\d[\d.]{15}|[\d.]+[eE])|(?:^|[[:,\s])-0(?:$|[.,\]}\s])/;

/**
 * Parses JSON text.
 * @throws SyntaxError when it is not JSON.
 */
export function parseJson(text: string): unknown {
  return mayLoseDigits.test(text) ? parseExactly(text) : JSON.parse(text);
}

/** As parseJson, for a text with numbers that a double may not hold. */
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

/** The reason of too deep nesting. */
export const tooDeepReason = "is nested too deeply";

/**
 * Finds what cannot be stored or read: more than `depthMax` levels, U+0000, and lone surrogates. It never goes deeper
 * than `depthMax`, so no input can exhaust the stack.
 */
export function findJsonProblem(value: unknown, depthMax: number): JsonProblem | undefined {
  return findJsonProblems(value, depthMax, 1)[0];
}

/** As findJsonProblem, up to `problemsMax` problems. */
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
    // The key itself cannot be echoed.
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

/** Whether findJsonProblems may find anything in a JSON text. Fast, because most values have no problem. */
export function mayHaveProblems(json: string, depthMax: number): boolean {
  // U+0000 is always escaped in JSON; lone surrogates may be escaped or not.
  if (json.includes("\\u0000") || /\\u[dD]/.test(json) || !json.isWellFormed()) return true;
  let brackets = 0;
  for (const bracket of ["{", "["]) {
    for (let at = json.indexOf(bracket); at >= 0; at = json.indexOf(bracket, at + 1)) {
      if (++brackets > depthMax) return true;
    }
  }
  return false;
}

/** Whether a value is a number that a double does not hold. */
export function isRawNumber(value: unknown): boolean {
  return jsonWithSource.isRawJSON(value);
}

/**
 * The same text for exactly those values that are equal as JSON, whatever the order of keys and the spelling of
 * numbers. It recurses, so the depth of the value must be limited.
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

/** The significant digits of a number, and the power of ten of the last one. */
function canonicalNumber(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  // A regular expression would take quadratic time here.
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  const significant = digits.slice(0, end);
  if (significant === "") return "0";
  // Too long to calculate with, and of no use: such numbers are equal only when their texts are.
  if (exponent.length > exponentLengthMax) return text;
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Why a text cannot be stored, or undefined when it can. */
export function textProblem(text: string): string | undefined {
  if (text.includes("\0")) return "holds U+0000, which cannot be stored";
  if (!text.isWellFormed()) return "holds half of a surrogate pair, which is no character";
  return undefined;
}

function isExact(value: number, source: string): boolean {
  // JSON.stringify writes `0` for `-0` and `null` for an overflow. Others are exact if their shortest text is the
  // source.
  return String(value) === source && !Object.is(value, -0);
}
