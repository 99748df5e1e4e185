/** Checks of errors, and that a refused request left nothing behind. */
import pg from "pg";
import { expect } from "vitest";
import { decodeId } from "#shared/values/ids.ts";
import type { Answer } from "./api.ts";
import type { TestDaybook, TestProperty } from "./daybook.ts";

/** Checks the form and headers of an error. */
export function expectError(answer: Answer, status: number, code: string, param: string | null): void {
  expect([answer.status, answer.body?.error?.code, answer.body?.error?.param]).toEqual([status, code, param]);
  expect(Object.keys(answer.body)).toEqual(["error"]);
  expect(answer.body.error).toMatchObject({
    type: expect.stringMatching(/^[a-z_]+$/),
    message: expect.stringMatching(/./),
    request_id: answer.headers.get("x-request-id"),
    retryable: false,
    retry_after_ms: null,
  });
  for (const name of ["service-version", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"]) {
    expect(answer.headers.get(name), name).not.toBeNull();
  }
}

// The property's keys and rate windows; and event types, which are admitted before profiles are looked up.
const ownTables = [
  "identity.keys",
  "identity.caller_uses",
  "identity.rate_windows",
  "event.types",
  "event.type_counts",
];

const reportedSubject = "daybook.event.rejected_writes_reported";

/** Checks that a property has no rows in other tables, but those that tell of refused writes. */
export async function expectNothingBehind(daybook: TestDaybook, api: TestProperty): Promise<void> {
  const property = decodeId("prop", api.propertyId, "property_id");
  const database = new pg.Client({ connectionString: daybook.databaseUrl });
  await database.connect();
  try {
    const { rows: tables } = await database.query<{ name: string }>(
      `SELECT DISTINCT c.table_schema || '.' || c.table_name AS name
       FROM information_schema.columns c JOIN pg_class t ON t.oid = (c.table_schema || '.' || c.table_name)::regclass
       WHERE c.column_name = 'property_id' AND c.table_schema IN ('identity', 'profile', 'event', 'metric', 'webhook')
         AND NOT t.relispartition`,
    );
    expect(tables.length).toBeGreaterThan(ownTables.length);
    for (const { name } of tables) {
      if (ownTables.includes(name) || name.startsWith("event.rejected_")) continue;
      const { rows } = await database.query(`SELECT * FROM ${name} WHERE property_id = $1`, [property]);
      const others = rows.filter(({ subject }: { subject?: string }) => subject !== reportedSubject);
      expect(others, name).toEqual([]);
    }
  } finally {
    await database.end();
  }
}
