/** What every refusal has in common, and a look whether it left anything behind. */
import pg from "pg";
import { expect } from "vitest";
import { decodeId } from "#shared/values/ids.ts";
import type { Answer } from "./api.ts";
import type { TestDaybook, TestProperty } from "./daybook.ts";

/** Checks that an answer is a refusal in the form and with the headers that all have. */
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

/** Checks that a property has nothing in any table. */
export async function expectNothingBehind(daybook: TestDaybook, api: TestProperty): Promise<void> {
  const property = decodeId("prop", api.propertyId, "property_id");
  const tables = [
    "event.events",
    "event.outbox",
    "event.dedupe_keys",
    "profile.profiles",
    "profile.identifiers",
    "profile.item_keys",
    "profile.outbox",
    "profile.attribute_schemas",
    "metric.metrics",
    "metric.registrations",
  ];
  const database = new pg.Client({ connectionString: daybook.databaseUrl });
  await database.connect();
  try {
    for (const table of tables) {
      const { rows } = await database.query(`SELECT * FROM ${table} WHERE property_id = $1`, [property]);
      expect(rows, table).toEqual([]);
    }
  } finally {
    await database.end();
  }
}
