/** JSON bodies. A large one is parsed in steps that yield to the event loop. */
import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import { Extent, type Run } from "./extent.ts";
import { explainJsonError } from "./position.ts";
import { isJsonObject, parseExactly } from "./json.ts";
import { Steps } from "../scheduling/steps.ts";

/** The default limit of values; longer bodies are refused unparsed. A value takes 1 to 2 µs. */
const valuesMaxDefault = 250_000;
// Each is scanned or parsed within a few milliseconds.
const scanBytes = 256 * 1024;
const runBytesMinDefault = 64 * 1024;
// Finding the position of an error takes longer than parsing.
const explainedBytesMax = 1024 * 1024;

// Placeholder of a run. No caller can guess it.
const mark = randomBytes(16).toString("hex");

/**
 * Parses a JSON body.
 * @param runBytesMin minimum bytes of array elements that are parsed in one step.
 * @throws SyntaxError when it is not UTF-8, not JSON, too deep, or has too many values, or keys in one object.
 */
export async function parseJsonBody(
  bytes: Buffer,
  { valuesMax = valuesMaxDefault, runBytesMin = runBytesMinDefault } = {},
): Promise<unknown> {
  if (!isUtf8(bytes)) throw new SyntaxError("The body must be UTF-8; got bytes that are not.");
  const steps = new Steps();
  const extent = new Extent(bytes, { valuesMax, runBytesMin });
  for (let at = 0; at < bytes.length; at += scanBytes) {
    extent.scan(Math.min(at + scanBytes, bytes.length));
    await steps.next();
  }
  try {
    return await readInSteps(bytes, extent, steps);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Without the cause, because it quotes the body.
    const reason = bytes.length > explainedBytesMax ? undefined : explainJsonError(bytes.toString("utf8"));
    throw new SyntaxError(`The body must be JSON${reason === undefined ? "" : `: ${reason}`}.`);
  }
}

/** @throws SyntaxError when it is not JSON. */
async function readInSteps(bytes: Buffer, { runs, mayLose }: Extent, steps: Steps): Promise<unknown> {
  const read = mayLose ? parseExactly : (JSON.parse as (text: string) => unknown);
  const parts: string[] = [];
  let end = 0;
  for (const [index, run] of runs.entries()) {
    parts.push(bytes.toString("utf8", end, run.start), `"${mark}${index}"`);
    end = run.end;
  }
  parts.push(bytes.toString("utf8", end));
  const root = read(parts.join(""));
  const elements = new Map<unknown, unknown[]>();
  for (const { start, end: runEnd, mayLose: runMayLose } of runs) {
    await steps.next();
    const text = `[${bytes.toString("utf8", start, runEnd)}]`;
    elements.set(`${mark}${elements.size}`, (runMayLose ? parseExactly(text) : JSON.parse(text)) as unknown[]);
  }
  const paths = [...new Set(runs.map(({ list }) => list))];
  for (const list of paths.map((path) => findList(root, path))) {
    if (!list) continue;
    const all = list.flatMap((element) => elements.get(element) ?? [element]);
    list.length = 0;
    for (const element of all) list.push(element);
  }
  return root;
}

/** The array at a path; undefined when a later duplicate key replaced it. */
function findList(root: unknown, path: Run["list"]): unknown[] | undefined {
  let at = root;
  for (const step of path) {
    if (typeof step === "number") at = Array.isArray(at) ? (at as unknown[])[step] : undefined;
    else {
      const key = JSON.parse(step) as string;
      at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    }
  }
  return Array.isArray(at) ? at : undefined;
}
