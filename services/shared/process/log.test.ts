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
  const failure = Object.assign(new Error("duplicate key"), {
    code: "23505",
    detail: `Key (value)=(${secret}) exists`,
    // A broken connection's error carries the connection, and that its statement with the values.
    client: { activeQuery: { values: [secret] } },
  });
  log.error({ err: failure });
  log.error({ err: new Error("wrapped", { cause: failure }) });
  const text = await readFile(file, "utf8");
  await rm(folder, { recursive: true });
  expect(text).not.toContain(secret);
  expect(text).toContain("23505");
  expect(text).toContain("duplicate key");
  expect(text).toContain("wrapped");
});

test("writes no field of a line into those that follow", async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-log-"));
  const file = join(folder, "log");
  const log = createLog("test", "info", openSync(file, "a"));
  log.info({ memberId: "mem_1" }, "one");
  log.child({ caller: "gateway" }).info({ method: "SignIn" }, "two");
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  await rm(folder, { recursive: true });
  expect(lines[1]).not.toContain("mem_1");
  expect(lines[1]).toContain("SignIn");
});
