import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createReadiness } from "./readiness.ts";

test("services are asked once a second, however many ask, at once or in turn", async () => {
  let asked = 0;
  const readiness = createReadiness(async () => {
    asked++;
    await sleep(50);
  });
  await Promise.all(Array.from({ length: 1_000 }, () => readiness.check()));
  await readiness.check();
  expect(asked).toBe(1);
  await sleep(1_100);
  await Promise.all(Array.from({ length: 1_000 }, () => readiness.check()));
  expect(asked).toBe(2);
});

test("a failure is kept as long, and no longer", async () => {
  let isUp = false;
  const readiness = createReadiness(async () => {
    if (!isUp) throw new Error("down");
  });
  await expect(readiness.check()).rejects.toThrow("down");
  isUp = true;
  await expect(readiness.check()).rejects.toThrow("down");
  await sleep(1_100);
  await readiness.check();
});

test("who leaves is not ready, at once and for good", async () => {
  const readiness = createReadiness(() => Promise.resolve());
  await readiness.check();
  readiness.leave();
  await expect(readiness.check()).rejects.toThrow("about to stop");
});
