/** curl commands for pasting into a shell. */
import type { DocumentedOperation } from "./document.ts";

/**
 * @param path with names of parameters in braces, which are replaced by their examples.
 * @param body an example body.
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
  // Several example filters together would match nothing.
  const filter = query.find(({ name }) => name.startsWith("filter"));
  const shown = query.filter((parameter) => parameter === filter || !parameter.name.startsWith("filter"));
  // What curl does by itself.
  const usual = body === undefined ? "GET" : "POST";
  const methodOption = method === usual ? "" : `-X ${method} `;
  const words = [
    `curl -sS ${shown.length > 0 ? "-G " : ""}${methodOption}${quote(origin + filled)}`,
    `-H "Authorization: Bearer $DAYBOOK_KEY"`,
    ...shown.map(({ name, example }) => `--data-urlencode ${quote(`${name}=${String(example)}`)}`),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body, null, 2))}`]),
  ];
  return words.join(" \\\n  ");
}

/** Quotes a text as one word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
