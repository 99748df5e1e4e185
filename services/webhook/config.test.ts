import { expect, test } from "vitest";
import { readSettings } from "#shared/process/config.ts";
import { readWebhookSettings } from "./config.ts";

const read = (networks: string): readonly string[] =>
  readSettings({ WEBHOOK_ALLOWED_NETWORKS: networks }, readWebhookSettings).allowedNetworks;

test("no network is allowed unless it is named", () => {
  expect(read("")).toEqual([]);
  expect(read("10.0.0.0/8, fd00::/8")).toEqual(["10.0.0.0/8", "fd00::/8"]);
});

test("every network that is none is reported", () => {
  const problems = [
    'WEBHOOK_ALLOWED_NETWORKS must be a network such as "10.1.0.0/16" or "fd00::/8"; got localhost',
    "WEBHOOK_ALLOWED_NETWORKS must not have a comma that no network follows",
    "WEBHOOK_ALLOWED_NETWORKS must have at most 32 bits after the slash; got 10.0.0.0/40",
  ];
  expect(() => read("10.0.0.0/8,localhost,,10.0.0.0/40")).toThrow(
    expect.objectContaining({ name: "ConfigError", problems }),
  );
  expect(() => read(Array.from({ length: 101 }, () => "10.0.0.0/8").join(","))).toThrow("at most 100 networks");
});
