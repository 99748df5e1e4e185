import { expect, test } from "vitest";
import { connectionsMaxOf, connectionsOf, serverConnections } from "./connections.ts";

test("one process opens 45 connections, and workers 27 each at most", () => {
  expect(connectionsMaxOf(1)).toBe(45);
  for (let workers = 2; workers <= 64; workers++) {
    expect(connectionsMaxOf(workers) / workers).toBeLessThanOrEqual(27);
    expect(Number(serverConnections(workers))).toBeGreaterThan(connectionsMaxOf(workers));
  }
});

test("a relay, what it delivers and a request have a connection each, with however many workers", () => {
  for (const name of ["profile", "event", "metric", "webhook"] as const) {
    expect(connectionsOf(64)[name].writes).toBeGreaterThanOrEqual(3);
  }
});
