/**
 * The calls of the public API that screens equal. Screens show them as curl; a test runs each with its sample. It holds
 * data only, so that tests can load it outside a browser.
 */

export interface ApiCall {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With the query, from the root: /v1/… */
  path: string;
  /** Text of a JSON body. */
  body?: string;
}

/** A path with the parameters that have a value. */
export function withQuery(path: string, parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

export const apiCalls = {
  account: (): ApiCall => ({ method: "GET", path: "/v1/account" }),
  listEvents: (filter: { type?: string; limit?: string } = {}): ApiCall => ({
    method: "GET",
    path: withQuery("/v1/events", filter),
  }),
  recordEvent: (body: string): ApiCall => ({ method: "POST", path: "/v1/events", body }),
};

/** One call of each kind that a key with all scopes may send to an empty property: what the test runs. */
export const sampleCalls: Record<keyof typeof apiCalls, ApiCall> = {
  account: apiCalls.account(),
  listEvents: apiCalls.listEvents({ type: "order.completed", limit: "50" }),
  recordEvent: apiCalls.recordEvent(
    '{"type":"order.completed","identifier":{"type":"email","value":"ada@example.com"},"value":"49.90","currency":"EUR"}',
  ),
};

/** Text that a POSIX shell reads as one word. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The call as a curl command. The key stays in the environment: DAYBOOK_KEY. */
export function curlOf({ method, path, body }: ApiCall, apiUrl: string): string {
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quoted(apiUrl + path)}`,
    `-H "Authorization: Bearer $DAYBOOK_KEY"`,
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(body)}`]),
  ];
  return lines.join(" \\\n  ");
}
