/**
 * Requests that once cost far more than their size, and the largest valid ones, for the CPU test and the stall bench.
 */

/** A request; `before` is sent first and not measured. */
export interface WorstRequest {
  name: string;
  path: string;
  body: object;
  before?: { path: string; body: object };
  status: number;
}

/** Combining marks out of order, for which String.normalize takes quadratic time. */
export function marksOutOfOrder(length: number): string {
  const half = Math.floor(length / 2);
  return `a${"\u0315".repeat(half)}${"\u0316".repeat(half)}`;
}

const range = (count: number): number[] => [...Array(count).keys()];
const keys = (count: number, prefix = ""): Record<string, number> =>
  Object.fromEntries(range(count).map((index) => [prefix + index.toString(36), 1]));
const dataOf = (type: string, attributes: object, more: object = {}): object => ({
  data: { type, attributes, ...more },
});
const importOf = (items: readonly object[]): object => dataOf("profile-bulk-import-job", { profiles: { data: items } });
const metric = { data: { type: "metric", attributes: { name: "Placed Order" } } };
const email = "worst@example.com";

/** A profile of about 250 KB, and 100 updates of it by one key each. */
function batchOn(name: string, attributes: object, change: (index: number) => object): WorstRequest {
  const identifiers = [{ type: "email", value: `${name.replaceAll(/\W/g, "")}@example.com` }];
  return {
    name,
    before: { path: "/v1/profiles/upsert", body: { identifiers, attributes } },
    path: "/v1/profiles/batch",
    body: { profiles: range(100).map((index) => ({ identifiers, ...change(index) })) },
    status: 200,
  };
}

/** All requests with their expected status. */
export function worstRequests(): WorstRequest[] {
  // Each mark is two bytes.
  const [compatMarks, nativeMarks] = [marksOutOfOrder(2_500_000), marksOutOfOrder(950_000)];
  const append = (key: string, count: number): object =>
    dataOf("profile", { email }, { meta: { patch_properties: { append: { [key]: Array(count).fill(0) } } } });
  return [
    {
      name: "an event with marks out of order as its email",
      path: "/api/events",
      body: dataOf("event", { metric, profile: { data: { type: "profile", attributes: { email: compatMarks } } } }),
      status: 400,
    },
    {
      name: "an event with marks out of order as its identifier",
      path: "/v1/events",
      body: { type: "a.b", identifier: { type: "email", value: nativeMarks }, properties: {} },
      status: 400,
    },
    {
      name: "an import of emails with as many marks as are looked at",
      path: "/api/profile-bulk-import-jobs",
      body: importOf(
        range(1_200).map((index) => ({
          type: "profile",
          attributes: { email: `${index}${marksOutOfOrder(30).repeat(65)}@example.com` },
        })),
      ),
      status: 400,
    },
    {
      name: "30,000 values appended under a key of 2 MB",
      path: "/api/profile-import",
      body: append("\u0100".repeat(1_000_000), 30_000),
      status: 400,
    },
    {
      name: "500,000 values appended under a key of 4 MB",
      path: "/api/profile-import",
      body: append("\u0100".repeat(2_000_000), 500_000),
      status: 400,
    },
    batchOn("a hundred changes to a profile of 26,000 keys", keys(26_000, "k"), (index) => ({
      attributes: { k1: index },
    })),
    batchOn("a hundred changes to a profile of one long text", { text: "x".repeat(250_000) }, (index) => ({
      attributes: { short: index },
    })),
    batchOn("a hundred values appended to a list of 120,000", { list: Array(120_000).fill(1) }, (index) => ({
      attribute_operations: [{ op: "append_unique", path: ["list"], value: index }],
    })),
    batchOn("a hundred operations that do not fit a profile of 26,000 keys", keys(26_000, "k"), () => ({
      attribute_operations: [
        { op: "set", path: ["k1"], value: 2 },
        { op: "append_unique", path: ["k2"], value: 1 },
      ],
    })),
    {
      name: "19 events of 25,000 new keys each",
      path: "/api/event-bulk-create-jobs",
      body: dataOf("event-bulk-create-job", {
        "events-bulk-create": {
          data: range(19).map((entry) => ({
            type: "event-bulk-create",
            attributes: {
              profile: { data: { type: "profile", attributes: { email: `keys${entry}@example.com` } } },
              events: {
                data: [{ type: "event", attributes: { metric, properties: keys(25_000, `k${entry.toString(36)}`) } }],
              },
            },
          })),
        },
      }),
      status: 202,
    },
    {
      name: "an event of the flat shape with 300,000 keys of its profile",
      path: "/api/events",
      body: dataOf("event", { metric: { name: "Placed Order" }, profile: { $email: email, ...keys(300_000, "k") } }),
      status: 400,
    },
    {
      name: "an import of 400,000 keys",
      path: "/api/profile-import",
      body: dataOf("profile", { email, properties: keys(400_000, "k") }),
      status: 400,
    },
    {
      name: "a job of 10,000 profiles with 50 unknown fields each",
      path: "/api/profile-bulk-import-jobs",
      body: importOf(range(10_000).map(() => ({ type: "profile", attributes: keys(50, "a") }))),
      status: 400,
    },
    {
      name: "a job of 10,000 profiles of 45 keys each",
      path: "/api/profile-bulk-import-jobs",
      body: importOf(
        range(10_000).map((index) => ({
          type: "profile",
          attributes: { email: `job${index}@example.com`, properties: keys(45, "a") },
        })),
      ),
      status: 202,
    },
  ];
}
