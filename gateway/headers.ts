/** Headers as they came: Node joins repeated ones, or drops all but the first. */
import type { IncomingMessage } from "node:http";

/** How many headers of a name a request has. @param name in lower case. */
export function countHeaders({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  // Names and values alternate.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const other = rawHeaders[at] as string;
    if (other.length === name.length && other.toLowerCase() === name) count++;
  }
  return count;
}
