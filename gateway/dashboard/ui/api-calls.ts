/**
 * The calls of the public API that screens equal. Screens show them as curl; a test runs each with its sample. It holds
 * data only, so that tests can load it outside a browser.
 */

export interface ApiCall {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** From the root: /v1/… */
  path: string;
  /** Parameters of the query. Those without a value are left out. */
  query?: Readonly<Record<string, string | undefined>>;
  /** Text of a JSON body. */
  body?: string;
}

export const apiCalls = {
  account: (): ApiCall => ({ method: "GET", path: "/v1/account" }),
  listEvents: (type?: string): ApiCall => ({
    method: "GET",
    path: "/v1/events",
    query: { "filter[type]": type },
  }),
  recordEvent: (body: string): ApiCall => ({ method: "POST", path: "/v1/events", body }),
};

/** One call of each kind that a key with all scopes may send to an empty property: what the test runs. */
export const sampleCalls: Record<keyof typeof apiCalls, ApiCall> = {
  account: apiCalls.account(),
  listEvents: apiCalls.listEvents("order.completed"),
  recordEvent: apiCalls.recordEvent(
    '{"type":"order.completed","identifier":{"type":"email","value":"ada@example.com"},"properties":{"order":"1"}}',
  ),
};

/** Text that a POSIX shell reads as one word. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The call as a curl command. The key stays in the environment: DAYBOOK_KEY. */
export function curlOf({ method, path, query = {}, body }: ApiCall, apiUrl: string): string {
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
  const how = method === "GET" ? (parameters.length > 0 ? "-G " : "") : `-X ${method} `;
  const lines = [
    `curl ${how}${quoted(apiUrl + path)}`,
    `-H "Authorization: Bearer $DAYBOOK_KEY"`,
    ...parameters.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(body)}`]),
  ];
  return lines.join(" \\\n  ");
}
