import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { readLocalSettings } from "./settings.ts";

test.each([
  [{}, 1],
  [{ WORKERS: "" }, 1],
  [{ WORKERS: "3" }, 3],
  [{ WORKERS: "64" }, 64],
  [{ WORKERS: "auto" }, Math.min(64, availableParallelism())],
])("%j makes %i workers", (env, workers) => {
  expect(readLocalSettings(env).workers).toBe(workers);
});
