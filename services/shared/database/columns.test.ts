import { expect, test } from "vitest";
import { newUuid } from "../values/ids.ts";
import { columns, type Rows } from "./columns.ts";
import { statement, type Queryable } from "./postgres.ts";

const first = columns(2, { id: "uuid", seen_at: "timestamptz?" });
const second = columns(first.next, { type: "text", payload: "bytea" });

test("columns say their parameters and their names", () => {
  expect(first.as("f")).toBe("unnest($2::uuid[], $3::timestamptz[]) AS f (id, seen_at)");
  expect(second.as("s")).toBe("unnest($4::text[], $5::bytea[]) AS s (type, payload)");
  expect(second.array("payload")).toBe("$5::bytea[]");
});

test("a statement gives PostgreSQL an array for each column, behind all other parameters", async () => {
  const asked: unknown[] = [];
  const database: Queryable = {
    query: (query) => {
      asked.push(query.values);
      return Promise.resolve({ rows: [] });
    },
  };
  const write = statement<[name: string, first: Rows<typeof first>, second: Rows<typeof second>]>(
    "test.write",
    "SELECT",
    first,
    second,
  );
  const [one, other] = [newUuid(), newUuid()];
  const rows = [
    { id: one, seen_at: 1_000_001 },
    { id: other, seen_at: null },
  ];
  await write(database, ["a", rows, [{ type: "x", payload: Buffer.of(1) }]]);
  await write(database, ["b", [], []]);
  // @ts-expect-error -- rows of other columns
  await write(database, ["c", [{ type: "x", payload: Buffer.of(1) }], rows]).catch(() => undefined);
  expect(asked.slice(0, 2)).toEqual([
    ["a", `{${one},${other}}`, "{1970-01-01T00:00:01.000001Z,NULL}", '{"x"}', '{"\\\\x01"}'],
    ["b", "{}", "{}", "{}", "{}"],
  ]);
});
