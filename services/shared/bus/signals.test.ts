import { expect, test } from "vitest";
import { createLog } from "../process/log.ts";
import { createLocalSignals } from "./signals.ts";

const log = createLog("test", "silent");

test("every listener of a subject has taken a signal once it is published, and no other listener", () => {
  const signals = createLocalSignals(log);
  const heard: string[] = [];
  for (const name of ["a", "b"]) signals.subscribe("one", (payload) => heard.push(`${name} ${payload.toString()}`));
  signals.subscribe("two", () => heard.push("two"));
  signals.publish("one", Buffer.from("word"));
  signals.publish("three", Buffer.from("nobody"));
  expect(heard).toEqual(["a word", "b word"]);
});

test("a listener that fails keeps nothing from the others, nor from who publishes", () => {
  const signals = createLocalSignals(log);
  let heard = 0;
  signals.subscribe("one", () => {
    throw new Error("no");
  });
  signals.subscribe("one", () => heard++);
  signals.publish("one", new Uint8Array());
  expect(heard).toBe(1);
});

test("a signal is short, and nothing is heard after the end", async () => {
  const signals = createLocalSignals(log);
  let heard = 0;
  signals.subscribe("one", () => heard++);
  expect(() => signals.publish("one", new Uint8Array(1025))).toThrow(RangeError);
  signals.publish("one", new Uint8Array(1024));
  await signals.close();
  signals.publish("one", new Uint8Array());
  expect(heard).toBe(1);
});
