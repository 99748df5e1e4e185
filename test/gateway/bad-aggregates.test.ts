/** What cannot be asked of a metric is refused, each by its name. */
import { expect, test } from "vitest";
import { describeOnce } from "../support/daybook.ts";
import { newEmail } from "../support/people.ts";
import {
  aggregated,
  aggregatesPath as path,
  randomEvents,
  recordAll as record,
  strangers as names,
} from "../support/recount.ts";
import { expectError } from "../support/refusals.ts";

describeOnce("questions that cannot be answered", (daybook) => {
  const range = { from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z" };
  const good = { metric: "order.completed", ...range };
  const bad: [string, object | string, string, string | null][] = [
    ["neither metric_id nor metric", range, "parameter_missing", "metric_id"],
    [
      "both metric_id and metric",
      { ...good, metric_id: "mtr_01h00000000000000000000000" },
      "parameter_conflict",
      "metric",
    ],
    ["a mistyped metric_id", { ...range, metric_id: "evt_01h00000000000000000000000" }, "invalid_id", "metric_id"],
    ["no from", { metric: "a", to: range.to }, "parameter_missing", "from"],
    ["no to", { metric: "a", from: range.from }, "parameter_missing", "to"],
    ["a from without an offset", { ...good, from: "2026-01-01T00:00:00" }, "parameter_invalid", "from"],
    ["a reversed range", { ...good, from: range.to, to: range.from }, "parameter_invalid", "to"],
    ["an empty range", { ...good, to: range.from }, "parameter_invalid", "to"],
    ["a range before all calendars", { ...good, from: "0001-01-01T00:00:00Z" }, "parameter_invalid", "from"],
    ["a range after all of them", { ...good, to: "9999-12-31T23:59:59Z" }, "parameter_invalid", "to"],
    [
      "a hundred years of hours",
      { ...good, from: "1926-01-01T00:00:00Z", interval: "hour" },
      "parameter_invalid",
      "interval",
    ],
    ["an unknown interval", { ...good, interval: "minute" }, "parameter_invalid", "interval"],
    ["no measurements", { ...good, measurements: [] }, "parameter_missing", "measurements"],
    ["an unknown measurement", { ...good, measurements: ["count", "median"] }, "parameter_invalid", "measurements.1"],
    ["a time zone that does not exist", { ...good, timezone: "Europe/Atlantis" }, "parameter_invalid", "timezone"],
    ["an offset for a time zone", { ...good, timezone: "+01:00" }, "parameter_invalid", "timezone"],
    ["no time zone", { ...good, timezone: "" }, "parameter_invalid", "timezone"],
    ["three groupings", { ...good, group_by: ["source", "currency", "properties.a"] }, "too_many_items", "group_by"],
    ["the same grouping twice", { ...good, group_by: ["source", "source"] }, "parameter_invalid", "group_by.1"],
    ["an unknown grouping", { ...good, group_by: ["profile_id"] }, "parameter_invalid", "group_by.0"],
    ["a grouping without a path", { ...good, group_by: ["properties."] }, "parameter_invalid", "group_by.0"],
    [
      "a grouping with half a surrogate pair",
      JSON.stringify({ ...good, group_by: ["properties.X"] }).replace("X", "\\ud800"),
      "parameter_invalid",
      "group_by.0",
    ],
    ["a grouping with U+0000", { ...good, group_by: ["properties.\0"] }, "parameter_invalid", "group_by.0"],
    ["an unknown filter", { ...good, filter: { type: "a" } }, "parameter_invalid", "filter.type"],
    ["a filter that is an object", { ...good, filter: { source: { gt: 1 } } }, "parameter_invalid", "filter.source"],
    [
      "a filter that is a list",
      { ...good, filter: { "properties.a": [1] } },
      "parameter_invalid",
      "filter.properties.a",
    ],
    ["a filter that is no object", { ...good, filter: "source" }, "parameter_invalid", "filter"],
    ["a filter with U+0000", { ...good, filter: { "properties.a": "\0" } }, "parameter_invalid", "filter.properties.a"],
    ["a filter whose field has U+0000", { ...good, filter: { "properties.\0": 1 } }, "parameter_invalid", "filter"],
    [
      "eleven filters",
      { ...good, filter: Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`properties.p${at}`, 1])) },
      "too_many_items",
      "filter",
    ],
    [
      "eleven filters in a list",
      { ...good, filter: Array.from({ length: 11 }, (_, at) => ({ field: ["properties", `p${at}`], value: 1 })) },
      "too_many_items",
      "filter",
    ],
    ["a grouping that names no key", { ...good, group_by: [["properties"]] }, "parameter_invalid", "group_by.0"],
    ["a grouping by no field of events", { ...good, group_by: [["type", "a"]] }, "parameter_invalid", "group_by.0"],
    [
      "two groupings with one name",
      { ...good, group_by: ["properties.a.b", ["properties", "a.b"]] },
      "parameter_conflict",
      "group_by.1",
    ],
    [
      "a filter in a list whose field has U+0000",
      { ...good, filter: [{ field: ["properties", "\0"], value: 1 }] },
      "parameter_invalid",
      "filter.0.field.1",
    ],
    [
      "an unknown filter in a list",
      { ...good, filter: [{ field: "type", value: 1 }] },
      "parameter_invalid",
      "filter.0",
    ],
    [
      "a path through an array",
      { ...good, group_by: ["properties.items[].sku"] },
      "unsupported_group_by",
      "group_by.0",
    ],
    [
      "a filter through an array",
      { ...good, filter: { "properties.items[].sku": 1 } },
      "unsupported_group_by",
      "filter.properties.items[].sku",
    ],
    ["an unknown field", { ...good, limit: 1 }, "parameter_unknown", "limit"],
    ["a list for a body", [good], "parameter_invalid", null],
  ];
  test.each(bad)("%s is refused", async (_name, body, code, param) => {
    const api = await daybook().newProperty();
    await api.post("/v1/events", { type: "order.completed", identifier: newEmail(), properties: {} });
    expectError(await api.post(path, body), 400, code, param);
  });

  test("every field at fault is listed, and no metric of others is found", async () => {
    const api = await daybook().newProperty();
    const wrong = {
      ...good,
      timezone: "x",
      group_by: ["y"],
      filter: { z: 1 },
      measurements: ["count"],
      to: range.from,
    };
    const { body } = await api.post(path, wrong);
    expect(body.error.errors.map(({ param }: { param: string }) => param)).toEqual([
      "to",
      "timezone",
      "group_by.0",
      "filter.z",
    ]);
    expectError(await api.post(path, good), 404, "resource_not_found", "metric");
    const other = await daybook().newProperty();
    await record(other, randomEvents(1, range.from, range.to, names(1)));
    const { metric_id: id } = (await aggregated(other, good)).body.data;
    expectError(await api.post(path, { ...range, metric_id: id }), 404, "resource_not_found", "metric_id");
    const poor = await other.withScopes(["metrics:write", "events:read"]);
    const refusal = await poor.post(path, good);
    expect([refusal.status, refusal.body.error.code]).toEqual([403, "missing_scope"]);
    expect(refusal.body.error.message).toContain("metrics:read");
  });
});
