/** Recounts metric aggregates from stored events in PostgreSQL, to compare with the API. Also creates events. */
import { expect } from "vitest";
import { decodeId } from "#shared/values/ids.ts";
import type { Answer } from "./api.ts";
import { testCall, type TestDaybook, type TestProperty } from "./daybook.ts";
import { queryRows } from "./database.ts";
import { newEmail } from "./people.ts";
import { eventually } from "./processes.ts";
import { random } from "./random.ts";

export interface Recount {
  propertyId: string;
  type: string;
  interval?: "hour" | "day" | "week" | "month" | undefined;
  from: string;
  to: string;
  timezone: string;
  groupBy?: readonly ("source" | "currency")[];
}

/** The values of a group in a bucket. */
interface RecountRow {
  /** Start of the bucket, in the format of the API. */
  bucket: string;
  group: string;
  count: number;
  sum: string;
  profiles: number;
}

/** Counts in PostgreSQL, which has its own time zones. Follows merged profiles to their survivors. */
async function recount(daybook: TestDaybook, what: Recount): Promise<RecountRow[]> {
  const { interval, groupBy = [] } = what;
  const civil =
    interval === undefined
      ? "$3::timestamptz"
      : `greatest(date_trunc('${interval}', e.occurred_at, $5), $3::timestamptz)`;
  const group =
    groupBy.length === 0
      ? "'{}'"
      : `json_build_object(${groupBy.map((name) => `'${name}', e.${name}`).join(", ")})::text`;
  const text = `
    WITH RECURSIVE
    zone AS (SELECT $5::text AS name),
    chain AS (
      SELECT source_id, survivor_id FROM profile.merges WHERE property_id = $1
      UNION ALL
      SELECT chain.source_id, m.survivor_id FROM chain JOIN profile.merges m ON m.property_id = $1 AND m.source_id = chain.survivor_id
    ),
    ends AS (
      SELECT source_id, survivor_id FROM chain
      WHERE NOT EXISTS (SELECT FROM profile.merges m WHERE m.property_id = $1 AND m.source_id = chain.survivor_id)
    )
    SELECT to_char(${civil} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS bucket, ${group} AS "group", count(*)::int AS count,
           coalesce(sum(e.value), 0)::text AS sum, count(DISTINCT coalesce(ends.survivor_id, e.profile_id))::int AS profiles
    FROM zone, event.events e LEFT JOIN ends ON ends.source_id = e.profile_id
    WHERE e.property_id = $1 AND e.type = $2 AND e.occurred_at >= $3 AND e.occurred_at < $4
    GROUP BY 1, 2 ORDER BY 2, 1`;
  const property = decodeId("prop", what.propertyId, "property_id");
  const parameters = [property, what.type, what.from, what.to, what.timezone];
  const rows = await queryRows<RecountRow>(daybook.databaseUrl, text, parameters);
  return rows.map((row) => ({ ...row, group: JSON.stringify(JSON.parse(row.group)) }));
}

interface Aggregate {
  buckets: string[];
  series: { group: object; count: number[]; sum_value: string[]; unique_profiles: number[] }[];
}

/** Converts an answer to recount rows, without empty buckets. Equal sums get equal texts. */
function toRows({ buckets, series }: Aggregate): RecountRow[] {
  return series
    .flatMap(({ group, count, sum_value: sums, unique_profiles: profiles }) =>
      buckets.map((bucket, at) => ({
        bucket,
        group: JSON.stringify(group),
        count: count[at] ?? 0,
        sum: sums?.[at] ?? "0",
        profiles: profiles[at] ?? 0,
      })),
    )
    .filter(({ count }) => count > 0);
}

export const aggregatesPath = "/v1/metric-aggregates";
const hourMs = 3_600_000;

/** Retries until the answer includes everything received before the call. */
export function aggregated(api: TestProperty, body: object): Promise<Answer> {
  const since = Date.now();
  return eventually(async () => {
    const answer = await api.post(aggregatesPath, body);
    if (answer.status !== 200) throw new Error(answer.text);
    return Date.parse(answer.body.meta.as_of) > since ? answer : undefined;
  });
}

/** Waits until no rebuild of roll-ups is under way, of one property or of all. */
export function rebuilt(daybook: Pick<TestDaybook, "clients">, propertyId?: string): Promise<true> {
  const request = propertyId === undefined ? {} : { propertyId };
  return eventually(
    async () =>
      (await daybook.clients.metrics.describeRollups(request, testCall)).propertiesBuilding === 0 ? true : undefined,
    { timeoutMs: 60_000 },
  );
}

/** Closes all days of a property that are over, as if they had been open for long. */
export async function closeDays(daybook: TestDaybook, api: TestProperty): Promise<void> {
  const query = (text: string): Promise<object[]> =>
    queryRows(daybook.databaseUrl, text, [decodeId("prop", api.propertyId, "property_id")]);
  const past = "FROM metric.open_days WHERE property_id = $1 AND day < now() - interval '2 days'";
  await eventually(
    async () => {
      if ((await query(`SELECT ${past} LIMIT 1`)).length === 0) return true;
      await query("UPDATE metric.open_days SET opened_at = '2026-01-01' WHERE property_id = $1");
      return undefined;
    },
    { timeoutMs: 60_000 },
  );
}

/** Random events in a range, some at its edges and at full hours, of random people. */
export function randomEvents(count: number, from: string, to: string, people: readonly object[]): object[] {
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  return Array.from({ length: count }, (_, index) => {
    const at = begin + random(end - begin);
    const time = [at, at - (at % hourMs), begin, end, end - 1][index < 5 ? index : random(2)] as number;
    const digits = random(9);
    const whole = `${random(5) === 0 ? "-" : ""}${random(1_000_000)}`;
    const value = digits > 0 ? `${whole}.${String(random(10 ** digits)).padStart(digits, "0")}` : whole;
    const currency = ["EUR", "USD", undefined][random(3)];
    return {
      type: "order.completed",
      properties: {},
      ...people[random(people.length)],
      occurred_at: new Date(time).toISOString(),
      ...(currency === undefined ? {} : { value, currency }),
    };
  });
}

/** Records events with backfill, 1,000 at a time. */
export async function recordAll(api: TestProperty, events: object[]): Promise<void> {
  for (let at = 0; at < events.length; at += 1000) {
    const { body } = await api.post("/v1/events/batch", { events: events.slice(at, at + 1000), backfill: true });
    expect(body.data.counts.failed).toBe(0);
  }
}

/** New people with an email each. */
export const strangers = (count: number): object[] => Array.from({ length: count }, () => ({ identifier: newEmail() }));

/** Checks that an answer equals its recount in all measurements. */
export async function expectAgreement(
  daybook: TestDaybook,
  api: TestProperty,
  asked: Omit<Recount, "propertyId" | "type">,
): Promise<void> {
  const type = "order.completed";
  const { groupBy = [], ...rest } = asked;
  const { body } = await api.post(aggregatesPath, {
    metric: type,
    measurements: ["count", "sum_value", "unique_profiles"],
    ...rest,
    group_by: groupBy,
  });
  // Sums are always by currency.
  const grouped = groupBy.includes("currency") ? groupBy : [...groupBy, "currency" as const];
  const expected = await recount(daybook, { propertyId: api.propertyId, type, ...asked, groupBy: grouped });
  const byKey = (one: { bucket: string; group: string }, other: typeof one): number =>
    `${one.group} ${one.bucket}` < `${other.group} ${other.bucket}` ? -1 : 1;
  const normal = (rows: ReturnType<typeof toRows>) =>
    rows.map((row) => ({ ...row, sum: row.sum.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") })).toSorted(byKey);
  expect(normal(toRows(body.data)), JSON.stringify(asked)).toEqual(normal(expected));
  expect(expected.length).toBeGreaterThan(0);
}
