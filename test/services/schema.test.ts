/**
 * The schemas that migrations make. A change of one shows in its text: `npx vitest run test/services/schema.test.ts -u`
 * writes it anew.
 */
import { inject, onTestFinished, test, expect } from "vitest";
import { migrate } from "#shared/database/migrate.ts";
import { openDatabase } from "#shared/database/postgres.ts";
import { createLog } from "#shared/process/log.ts";
import { createDatabase } from "../support/database.ts";
import { describeSchema } from "../support/schema-text.ts";

test.each(["identity", "profile", "event", "metric", "webhook"])(
  "the schema %s is as its text says",
  async (schema) => {
    const empty = await createDatabase(inject("databaseUrl"));
    onTestFinished(() => empty.close());
    const database = openDatabase({
      url: empty.url,
      applicationName: "test",
      connectionsMax: 1,
      log: createLog("test", "silent"),
    });
    try {
      await migrate(database, schema, `services/${schema}/migrations`);
      await expect(await describeSchema(database, schema)).toMatchFileSnapshot(`../fixtures/schemas/${schema}.txt`);
    } finally {
      await database.end();
    }
  },
);
