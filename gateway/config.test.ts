import { expect, test } from "vitest";
import { readSettings } from "#shared/process/config.ts";
import { edgeDefaults, readGatewaySettings } from "./config.ts";

const read = (env: Record<string, string>) => readSettings(env, readGatewaySettings).edge;

test("without settings the limits are those of every gateway, and nobody speaks for others", () => {
  expect(read({})).toEqual({ ...edgeDefaults, shutdownDelayMs: 1_000 });
});

test("every limit of the public listener that has a setting follows it", () => {
  const edge = read({
    CONNECTIONS_MAX: "20",
    CONNECTIONS_PER_ADDRESS_MAX: "10",
    BODY_BYTES_PER_KEY_MAX: "10000000",
    BODY_BYTES_MAX: "20000000",
    ANSWER_BYTES_PER_KEY_MAX: "30000000",
    ANSWER_BYTES_MAX: "40000000",
    TRUSTED_PROXIES: "10.0.0.0/8, 2001:db8::7",
    PUBLIC_URL: "https://daybook.example.com/",
    SHUTDOWN_DELAY_MS: "5000",
  });
  expect(edge).toMatchObject({
    listener: { connectionsMax: 20, connectionsPerAddressMax: 10 },
    bytes: {
      bodyBytesPerKeyMax: 10_000_000,
      bodyBytesMax: 20_000_000,
      answerBytesPerKeyMax: 30_000_000,
      answerBytesMax: 40_000_000,
    },
    trustedProxies: ["10.0.0.0/8", "2001:db8::7"],
    publicUrl: "https://daybook.example.com",
    shutdownDelayMs: 5_000,
  });
});

test("what is no address of a proxy, and a delay that is too long, are named", () => {
  const env = { TRUSTED_PROXIES: "10.0.0.0/8,proxy", SHUTDOWN_DELAY_MS: "60000", BODY_BYTES_MAX: "1" };
  expect(() => read(env)).toThrow(/TRUSTED_PROXIES: proxy is neither an address/);
  expect(() => read(env)).toThrow(/SHUTDOWN_DELAY_MS must be a whole number from 0 to 15000/);
  expect(() => read(env)).toThrow(/BODY_BYTES_MAX must be a whole number from 8388608/);
});
