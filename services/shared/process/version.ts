import { readFileSync } from "node:fs";
import { join } from "node:path";

const packageFile = join(import.meta.dirname, "../../../package.json");

/** The version of Daybook, from package.json, which is the only place that says it. */
export const { version } = JSON.parse(readFileSync(packageFile, "utf8")) as { version: string };
