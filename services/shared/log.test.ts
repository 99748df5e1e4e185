import { mkdtemp, readFile, rm } from "node:fs/promises";
import { openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLog } from "./log.ts";

test("writes no secret and nothing of a person", async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-log-"));
  const file = join(folder, "log");
  const log = createLog("test", "info", openSync(file, "a"));
  const secret = "sk_live_0123456789";
  log.info({ authorization: secret, headers: { authorization: secret }, body: { identifier: { value: secret } } }, "x");
  log.error({
    err: Object.assign(new Error("duplicate key"), { detail: `Key (value)=(${secret}) exists`, code: "23505" }),
  });
  const text = await readFile(file, "utf8");
  await rm(folder, { recursive: true });
  expect(text).not.toContain(secret);
  expect(text).toContain("23505");
  expect(text).toContain("duplicate key");
});
