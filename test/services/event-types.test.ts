/**
 * A property has a limited number of types of events. What is beyond is refused, and everything that was recorded is
 * counted.
 */
import pg from "pg";
import { expect, test } from "vitest";
import { decodeId } from "#shared/values/ids.ts";
import { metricsMax } from "#shared/values/limits.ts";
import { describeEverywhere } from "../support/daybook.ts";
import { newEmail } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import { expectError } from "../support/refusals.ts";

const range = { from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" };

describeEverywhere("types of events", (daybook) => {
  async function query(text: string, values: unknown[]): Promise<pg.QueryResult<{ count: number }>> {
    const client = new pg.Client({ connectionString: daybook().databaseUrl });
    await client.connect();
    try {
      return await client.query(text, values);
    } finally {
      await client.end();
    }
  }

  /** Gives a property so many types that all but `left` are used up. */
  async function fill(property: string, left: number): Promise<void> {
    const insert = `INSERT INTO event.types SELECT $1, 'filled.n' || n FROM generate_series(1, $2::int) AS n`;
    await query(insert, [property, metricsMax - left]);
    await query(`INSERT INTO event.type_counts VALUES ($1, $2)`, [property, metricsMax - left]);
  }

  const event = (type: string): object => ({ type, identifier: newEmail(), properties: {} });

  test("beyond the limit are refused, one by one, and all others are recorded and counted", async () => {
    const api = await daybook().newProperty();
    await fill(decodeId("prop", api.propertyId, ""), 2);
    const types = ["new.one", "new.two", "new.three", "filled.n1", "new.one", "new.four"];
    const { status, body } = await api.post("/v1/events/batch", { events: types.map(event) });
    expect(status).toBe(200);
    expect(body.data.results.map((item: { status: number }) => item.status)).toEqual([201, 201, 400, 201, 201, 400]);
    expect(body.data.results[2].error).toMatchObject({ code: "too_many_items", param: "type" });
    const single = await api.post("/v1/events", event("new.five"));
    expectError(single, 400, "too_many_items", "type");
    expect(single.body.error.message).toContain("10,000 types");
    expect((await api.post("/v1/events", event("new.two"))).status).toBe(201);
    const counted = { "new.one": 2, "new.two": 2, "filled.n1": 1 };
    await eventually(async () => {
      for (const [metric, count] of Object.entries(counted)) {
        const { body: answer } = await api.post("/v1/metric-aggregates", { metric, ...range });
        if (answer.data?.series[0].count[0] !== count) return undefined;
      }
      return true;
    });
    for (const metric of ["new.three", "new.four", "new.five"]) {
      expect((await api.get(`/v1/metrics?filter[name]=${metric}`)).body.data).toEqual([]);
    }
    // Nobody else is hindered.
    const other = await daybook().newProperty();
    expect((await other.post("/v1/events", event("new.five"))).status).toBe(201);
  });

  test("are never more than the limit, however many come at once", async () => {
    const api = await daybook().newProperty();
    const property = decodeId("prop", api.propertyId, "");
    await fill(property, 5);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        api.post("/v1/events/batch", { events: [event(`race.n${index % 15}`)] }),
      ),
    );
    const recorded = answers.filter(({ body }) => body.data.counts.succeeded === 1).length;
    expect(recorded).toBe(10);
    const { rows } = await query("SELECT count(*)::int FROM event.types WHERE property_id = $1", [property]);
    expect(rows).toEqual([{ count: metricsMax }]);
    const counts = await query("SELECT count FROM event.type_counts WHERE property_id = $1", [property]);
    expect(counts.rows).toEqual(rows);
  });
});
