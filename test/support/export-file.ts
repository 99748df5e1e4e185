/** Downloads of access requests, read by the program that docs/privacy.md shows, which knows nothing of Daybook. */
import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

export interface Verdict {
  /** What the program said: whole, or cut. */
  text: string;
  code: number;
}

export interface Line {
  kind: string;
  // Tests read lines of every kind.
  // oxlint-disable-next-line typescript/no-explicit-any
  [name: string]: any;
}

/** The lines of a stream. */
export function linesOf(text: string): Line[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

/** Writes a stream to a file as it comes. @returns whether it ended as an HTTP answer must. */
export async function saveStream(response: Response, file: string): Promise<boolean> {
  if (!response.body) throw new Error("the answer has no body");
  try {
    await pipeline(Readable.fromWeb(response.body as never), createWriteStream(file));
    return true;
  } catch {
    return false;
  }
}

/** Runs the program on a file. @param folder for the program. */
export async function verify(file: string, folder: string): Promise<Verdict> {
  const page = await readFile("docs/privacy.md", "utf8");
  const [, source = ""] = /```js\n(.*?)```/s.exec(page) ?? [];
  const program = join(folder, "verify.mjs");
  await writeFile(program, source);
  return new Promise((resolve) => {
    execFile(process.execPath, [program, file], (error, text) =>
      resolve({ text: text.trim(), code: Number(error?.code ?? 0) }),
    );
  });
}
