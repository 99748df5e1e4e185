/** Limits that a gateway keeps by itself, and answers that no route gives. */
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createApi } from "../support/api.ts";
import { startSingleProcess, type TestDaybook } from "../support/daybook.ts";

const owner = new Owner();
let daybook: TestDaybook;
// Half a minute into its window, which no test outlasts.
const now = (Math.floor(Date.now() / 60_000) * 60 + 30) * 1_000_000;
const clock = { nowMicros: () => now };
beforeAll(async () => {
  daybook = await startSingleProcess(owner, { limits: { ordinary: 5, backfill: 3 }, clock });
});
afterAll(() => owner.close());

const event = { type: "a.b", identifier: { type: "external_id", value: "1" }, properties: {} };

test("a key over its limit is refused until its window ends, and costs other keys nothing", async () => {
  const [api, other] = [await daybook.newProperty(), await daybook.newProperty()];
  const seen: [number, string | null][] = [];
  for (let index = 0; index < 7; index++) {
    const { status, headers } = await api.post("/v1/events", event);
    seen.push([status, headers.get("ratelimit-remaining")]);
  }
  expect(seen).toEqual([
    [201, "4"],
    [201, "3"],
    [201, "2"],
    [201, "1"],
    [201, "0"],
    [429, "0"],
    [429, "0"],
  ]);
  const refused = await api.get("/v1/metrics");
  expect(refused.body.error).toMatchObject({ type: "rate_limit_error", code: "rate_limited", retryable: true });
  expect(refused.headers.get("retry-after")).toBe("30");
  expect(refused.headers.get("ratelimit-reset")).toBe("30");
  expect(refused.body.error.retry_after_ms).toBe(30_000);
  expect((await api.post("/v1/events/batch", { events: [event], backfill: true })).status).toBe(200);
  expect((await other.post("/v1/events", event)).status).toBe(201);
});

test("what fails before it reaches its route is counted all the same", async () => {
  const api = await daybook.newProperty();
  const headers = { "service-version": "yesterday" };
  expect((await api.post("/v1/events", event, { headers })).body.error.code).toBe("invalid_revision");
  expect((await api.post("/v1/events/batch", "{")).body.error.code).toBe("invalid_json");
  expect((await api.get("/v1/metrics")).headers.get("ratelimit-remaining")).toBe("2");
});

test("guesses of keys are limited by client address, and good keys that are known are not touched by it", async () => {
  const known = await daybook.newProperty();
  expect((await known.get("/v1/metrics")).status).toBe(200);
  const stranger = createApi(daybook.baseUrl, "sk_test_guess");
  const statuses: number[] = [];
  for (let index = 0; index < 7; index++) statuses.push((await stranger.get("/v1/metrics")).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  expect((await known.get("/v1/metrics")).status).toBe(200);
  // Nobody is asked who it is, so it could as well be a guess.
  expect((await (await daybook.newProperty()).get("/v1/metrics")).status).toBe(429);
});

test.each([
  ["what is not HTTP", "hello\r\n\r\n", 400],
  [
    "two lengths of one body",
    "POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    400,
  ],
  ["headers of 100 KB", `GET /v1/metrics HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(100_000)}\r\n\r\n`, 431],
  ["no Host", "GET /v1/nothing HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
  ["a path that cannot be read", "GET /v1/% HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 400],
  ["an expectation", "GET /v1/nothing HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\nConnection: close\r\n\r\n", 404],
])("%s is answered in the form of all errors", async (_name, request, status) => {
  const text = await exchange(request);
  const [head = "", body = ""] = text.split("\r\n\r\n");
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  const headers = new Map(head.split("\r\n").map((line) => [line.split(": ")[0], line.split(": ")[1]]));
  const { error } = JSON.parse(body) as { error: { request_id: string } };
  expect(error.request_id).toBe(headers.get("x-request-id"));
  expect(headers.get("service-version")).toBe("2026-11-01");
  expect(headers.get("ratelimit-limit")).toBe("5");
});

function exchange(request: string): Promise<string> {
  const { hostname, port } = new URL(daybook.baseUrl);
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    socket.on("end", () => {
      socket.end();
      resolve(text);
    });
    // What is too large is not read to its end, so the rest of it may be refused after the answer.
    socket.on("error", (error) => (text === "" ? reject(error) : resolve(text)));
  });
}
