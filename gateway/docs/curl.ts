/** Lines of curl that can be pasted into a shell as they are. */
import type { DocumentedOperation } from "./document.ts";

/**
 * @param origin of this Daybook.
 * @param path with the names of parameters in braces; their examples take their place.
 * @param body an example of a body, if there is one.
 */
export function curlLine(
  origin: string,
  method: string,
  path: string,
  { parameters }: DocumentedOperation,
  body?: unknown,
): string {
  const filled = parameters
    .filter((parameter) => parameter.in === "path")
    .reduce((text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(String(example))), path);
  const query = parameters.filter((parameter) => parameter.in === "query" && parameter.example !== undefined);
  // Several filters at once would show how to find nothing.
  const filter = query.find(({ name }) => name.startsWith("filter"));
  const shown = query.filter((parameter) => parameter === filter || !parameter.name.startsWith("filter"));
  const words = [
    `curl -sS ${shown.length > 0 ? "-G " : ""}${method === "GET" || method === "POST" ? "" : `-X ${method} `}${quote(origin + filled)}`,
    `-H "Authorization: Bearer $DAYBOOK_KEY"`,
    ...shown.map(({ name, example }) => `--data-urlencode ${quote(`${name}=${String(example)}`)}`),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body, null, 2))}`]),
  ];
  return words.join(" \\\n  ");
}

/** A text as one word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
