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
  listEvents: (query: ApiCall["query"] = {}): ApiCall => ({ method: "GET", path: "/v1/events", query }),
  getEvent: (id: string): ApiCall => ({ method: "GET", path: `/v1/events/${id}` }),
  listProfiles: (query: ApiCall["query"] = {}): ApiCall => ({ method: "GET", path: "/v1/profiles", query }),
  readProfile: (id: string): ApiCall => ({
    method: "GET",
    path: `/v1/profiles/${id}`,
    query: { expand: "identifiers" },
  }),
  upsertProfile: (body: string): ApiCall => ({ method: "POST", path: "/v1/profiles/upsert", body }),
  listMetrics: (source?: string): ApiCall => ({
    method: "GET",
    path: "/v1/metrics",
    query: { "filter[source]": source, "page[limit]": "100" },
  }),
  aggregateMetric: (body: string): ApiCall => ({ method: "POST", path: "/v1/metric-aggregates", body }),
  listSchemas: (): ApiCall => ({ method: "GET", path: "/v1/schemas", query: { "page[limit]": "100" } }),
  listImportJobs: (): ApiCall => ({ method: "GET", path: "/api/profile-bulk-import-jobs" }),
  listApps: (): ApiCall => ({ method: "GET", path: "/v1/apps", query: { "page[limit]": "100" } }),
  readApp: (id: string): ApiCall => ({ method: "GET", path: `/v1/apps/${id}` }),
  listInstallations: (): ApiCall => ({ method: "GET", path: "/v1/installations", query: { "page[limit]": "100" } }),
  readInstallation: (id: string): ApiCall => ({ method: "GET", path: `/v1/installations/${id}` }),
  recordEvent: (body: string): ApiCall => ({ method: "POST", path: "/v1/events", body }),
};

/** Calls about a thing that must be there: the tests of their screens run them. */
type AboutOne = "readProfile" | "readApp" | "readInstallation";

/**
 * One call of each other kind that a key with all scopes may send to a property: what the test runs. The test puts the
 * id of an event in place of {event}.
 */
export const sampleCalls: Record<Exclude<keyof typeof apiCalls, AboutOne>, ApiCall> = {
  account: apiCalls.account(),
  listEvents: apiCalls.listEvents({
    "filter[type]": "order.completed",
    "filter[source]": "api",
    "filter[occurred_at][gte]": "2026-11-01T00:00:00.000Z",
    sort: "-occurred_at",
    "page[limit]": "50",
  }),
  getEvent: apiCalls.getEvent("{event}"),
  listProfiles: apiCalls.listProfiles({
    "filter[status]": "active",
    "filter[created_at][gte]": "2026-11-01T00:00:00.000Z",
    sort: "-created_at",
    expand: "identifiers",
  }),
  upsertProfile: apiCalls.upsertProfile(
    '{"identifiers":[{"type":"email","value":"ada@example.com"}],"attributes":{"first_name":"Ada"}}',
  ),
  listMetrics: apiCalls.listMetrics("api"),
  aggregateMetric: apiCalls.aggregateMetric(
    '{"metric":"order.completed","measurements":["sum_value"],"interval":"day","from":"2026-11-01T00:00:00.000Z",' +
      '"to":"2026-11-03T00:00:00.000Z","timezone":"Europe/Berlin","group_by":["source"],' +
      '"filter":[{"field":["properties","a.b"],"value":1.50}]}',
  ),
  listSchemas: apiCalls.listSchemas(),
  listImportJobs: apiCalls.listImportJobs(),
  listApps: apiCalls.listApps(),
  listInstallations: apiCalls.listInstallations(),
  recordEvent: apiCalls.recordEvent(
    '{"type":"order.completed","identifier":{"type":"email","value":"ada@example.com"},' +
      '"properties":{"order_id":"1001"},"value":"49.90","currency":"EUR"}',
  ),
};

/** Text that a POSIX shell reads as one word. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

// Linux takes 128 KiB for one argument of a program.
const argumentLengthMax = 40_000;

/**
 * The call as a curl command.
 * @param secret of the key; else it stays in the environment: DAYBOOK_KEY.
 */
export function curlOf({ method, path, query = {}, body }: ApiCall, apiUrl: string, secret?: string): string {
  const isLong = body !== undefined && body.length > argumentLengthMax;
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
  const how = method === "GET" ? (parameters.length > 0 ? "-G " : "") : `-X ${method} `;
  const lines = [
    `curl ${how}${quoted(apiUrl + path)}`,
    secret === undefined
      ? `-H "Authorization: Bearer $DAYBOOK_KEY"`
      : `-H ${quoted(`Authorization: Bearer ${secret}`)}`,
    ...parameters.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", isLong ? "-d @-" : `-d ${quoted(body)}`]),
  ];
  const command = lines.join(" \\\n  ");
  return isLong ? `printf '%s' ${quoted(body)} | ${command}` : command;
}
