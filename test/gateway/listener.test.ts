/**
 * What no well-behaved client sends: the listener answers it in the form of all errors, within its limits, and goes on.
 */
import { connect, type Socket } from "node:net";
import { deflateSync, gzipSync, brotliCompressSync } from "node:zlib";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { listenerLimits } from "../../gateway/listener/limits.ts";
import { createApi } from "../support/api.ts";
import { describeEverywhere, startSingleProcess, type TestDaybook, type TestProperty } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";
import { expectError } from "../support/refusals.ts";
import { openWire, splitAnswers, type WireAnswer } from "../support/wire.ts";

const event = { type: "a.b", identifier: { type: "external_id", value: "1" }, properties: {} };
const safety = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Checks that an answer off the wire is a refusal as all are. */
function expectRefusal(answer: WireAnswer | undefined, status: number, code: string): void {
  expect([answer?.status, JSON.parse(answer?.body ?? "{}")]).toEqual([
    status,
    { error: expect.objectContaining({ code, request_id: answer?.headers.get("x-request-id") }) },
  ]);
  expect(Object.fromEntries(answer?.headers ?? [])).toMatchObject({ ...safety, "ratelimit-limit": expect.any(String) });
}

describeEverywhere("the listener", (daybook) => {
  let api: TestProperty;
  beforeAll(async () => {
    api = await daybook().newProperty();
  });

  /** Sends bytes on a connection of their own and returns the answers. */
  async function send(text: string, answers = 1): Promise<WireAnswer[]> {
    const wire = await openWire(daybook().baseUrl);
    try {
      wire.write(text);
      return await wire.answers(answers);
    } finally {
      wire.end();
    }
  }
  const key = (): string => `Authorization: Bearer ${api.secret}\r\n`;
  const post = (body: string, more = ""): string =>
    `POST /v1/events HTTP/1.1\r\nHost: a\r\n${key()}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`;

  describe("every answer says that it is data, and not by whom", () => {
    test.each([
      ["GET", "/v1/account", 200],
      ["GET", "/v1/nothing", 404],
      ["GET", "/v1/%", 400],
      ["DELETE", "/v1/events", 405],
      ["GET", "/health/live", 200],
      ["GET", "/nothing", 404],
    ])("%s %s", async (method, path, status) => {
      const answer = await api.request(method, path);
      expect(answer.status).toBe(status);
      const headers = Object.fromEntries(answer.headers);
      expect(headers).toMatchObject(safety);
      for (const banner of ["server", "x-powered-by", "via"]) expect(Object.keys(headers)).not.toContain(banner);
    });
  });

  describe("headers", () => {
    test("more than 100 are refused with 431", async () => {
      const headers = Array.from({ length: 200 }, (_, index) => `X-${index}: 1\r\n`).join("");
      const [answer] = await send(`GET /v1/account HTTP/1.1\r\nHost: a\r\n${key()}${headers}\r\n`);
      expectRefusal(answer, 431, "request_too_large");
    });

    test("more than 16 KB are refused with 431", async () => {
      const [answer] = await send(`GET /v1/account HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`);
      expectRefusal(answer, 431, "request_too_large");
    });

    test.each([
      ["another scheme", (secret: string) => [`Basic ${secret}`], 401],
      ["no scheme", (secret: string) => [secret], 401],
      ["two spaces", (secret: string) => [`Bearer  ${secret}`], 200],
      ["a scheme in lower case", (secret: string) => [`bearer ${secret}`], 200],
      ["something behind the key", (secret: string) => [`Bearer ${secret} x`], 401],
      ["the same key twice", (secret: string) => [`Bearer ${secret}`, `Bearer ${secret}`], 401],
      ["a good key before a bad one", (secret: string) => [`Bearer ${secret}`, "Bearer x"], 401],
      ["10 KB", () => [`Bearer ${"x".repeat(10_000)}`], 401],
      ["the key as of the other mode", (secret: string) => [`Bearer ${secret.replace("_test_", "_live_")}`], 401],
    ])("Authorization: %s", async (_name, values, status) => {
      const lines = values(api.secret).map((value) => `Authorization: ${value}\r\n`);
      const [answer] = await send(`GET /v1/account HTTP/1.1\r\nHost: a\r\n${lines.join("")}\r\n`);
      if (status === 200) expect(answer?.status).toBe(200);
      else expectRefusal(answer, status, "invalid_api_key");
    });

    test("a key of the other mode opens its own property only", async () => {
      const live = await daybook().newProperty({ mode: Mode.LIVE });
      const { body } = await live.post("/v1/events", event);
      expect(body.meta.livemode).toBe(true);
      expect((await api.get(`/v1/events/${body.data.id}`)).status).toBe(404);
    });

    test("an id that a client sends is not taken", async () => {
      const headers = {
        "x-request-id": "req_01h00000000000000000000000",
        traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
      };
      const answer = await api.get("/v1/account", { headers });
      expect(answer.headers.get("x-request-id")).toBe(answer.body.meta.request_id);
      expect(answer.body.meta.request_id).not.toBe(headers["x-request-id"]);
      expect(answer.headers.has("traceparent")).toBe(false);
    });
  });

  describe("forms of HTTP", () => {
    test("HTTP/1.0", async () => {
      const [answer] = await send(`GET /v1/account HTTP/1.0\r\n${key()}\r\n`);
      expect([answer?.status, answer?.headers.get("connection")]).toEqual([200, "close"]);
    });

    test.each([
      ["no Host", "GET /v1/account HTTP/1.1\r\n"],
      ["two Hosts", "GET /v1/account HTTP/1.1\r\nHost: a\r\nhost: b\r\n"],
      ["the same Host twice", "GET /v1/account HTTP/1.1\r\nHost: a\r\nHost: a\r\n"],
      ["two Hosts in HTTP/1.0", "GET /v1/account HTTP/1.0\r\nHost: a\r\nHost: b\r\n"],
      ["an empty Host", "GET /v1/account HTTP/1.1\r\nHost: \r\n"],
      ["a Host with a path", "GET /v1/account HTTP/1.1\r\nHost: a/b\r\n"],
      ["a Host with a user", "GET /v1/account HTTP/1.1\r\nHost: a@b\r\n"],
      ["a Host with a space", "GET /v1/account HTTP/1.1\r\nHost: a b\r\n"],
      ["a Host of two with a comma and a space", "GET /v1/account HTTP/1.1\r\nHost: a, b\r\n"],
      ["a Host with a port that is none", "GET /v1/account HTTP/1.1\r\nHost: a:b\r\n"],
      ["a Host of an open bracket", "GET /v1/account HTTP/1.1\r\nHost: [::1\r\n"],
      ["no Host, for a path that is not there", "GET /v1/nothing HTTP/1.1\r\n"],
      ["no Host, for the page of the API", "GET /docs HTTP/1.1\r\n"],
      ["a body in chunks in HTTP/1.0", "POST /v1/events HTTP/1.0\r\nTransfer-Encoding: chunked\r\n"],
      ["HTTP/0.9", "GET /v1/account HTTP/0.9\r\n"],
      ["HTTP/0.9 without its name", "GET /v1/account\r\n"],
      ["HTTP/2.0", "GET /v1/account HTTP/2.0\r\nHost: a\r\n"],
    ])("%s is refused, and the connection ends", async (_name, head) => {
      const wire = await openWire(daybook().baseUrl);
      wire.write(`${head}${key()}\r\n`);
      const answers = splitAnswers(await wire.closed);
      expect(answers).toHaveLength(1);
      expectRefusal(answers[0], 400, "bad_request");
      expect(answers[0]?.headers.get("connection")).toBe("close");
      wire.end();
    });

    test.each(["a", "a:", "a:80", "daybook.example.com:8080", "[::1]:8080", "a_b", "%C3%A4.example.com"])(
      "Host: %s is taken",
      async (host) => {
        const [answer] = await send(`GET /v1/account HTTP/1.1\r\nHost: ${host}\r\n${key()}\r\n`);
        expect(answer?.status).toBe(200);
      },
    );

    test("targets in absolute form", async () => {
      const [answer] = await send(`GET http://daybook.example.com/v1/account HTTP/1.1\r\nHost: a\r\n${key()}\r\n`);
      expect(answer?.status).toBe(200);
    });

    test.each([
      ["an absolute target without a path", "GET http://daybook.example.com HTTP/1.1", 404],
      ["another scheme", "GET ftp://daybook.example.com/v1/account HTTP/1.1", 404],
      ["all of the server", "OPTIONS * HTTP/1.1", 404],
      ["two slashes", "GET //v1/account HTTP/1.1", 404],
      ["dots", "GET /v1/../v1/account HTTP/1.1", 404],
    ])("%s", async (_name, line, status) => {
      const [answer] = await send(`${line}\r\nHost: a\r\n${key()}\r\n`);
      expectRefusal(answer, status, "resource_not_found");
    });

    test("pipelined requests are answered in their order", async () => {
      const body = JSON.stringify(event);
      const read = `GET /v1/account HTTP/1.1\r\nHost: a\r\n${key()}\r\n`;
      const answers = await send(post(body) + read + post("{}") + read, 4);
      expect(answers.map(({ status }) => status)).toEqual([201, 200, 400, 200]);
    });

    test("what is no HTTP behind a request takes nothing of its answer", async () => {
      const answers = await send(`${post(JSON.stringify(event))}no request\r\n\r\n`, 2);
      expect(answers[0]?.status).toBe(201);
      expectRefusal(answers[1], 400, "bad_request");
    });

    test("a body that never ends is refused when it is too large", async () => {
      const wire = await openWire(daybook().baseUrl);
      wire.write(
        `POST /v1/events HTTP/1.1\r\nHost: a\r\n${key()}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
      for (let index = 0; index < 40; index++) wire.write(chunk);
      const [answer] = await wire.answers(1);
      expectRefusal(answer, 413, "request_too_large");
      wire.end();
    });
  });

  describe("compressed bodies", () => {
    const text = JSON.stringify(event);
    const sendAs = (body: Uint8Array, encoding: string) =>
      api.post("/v1/events", body, { headers: { "content-encoding": encoding } });

    test.each([
      ["gzip", gzipSync(text)],
      ["GZIP", gzipSync(text)],
      ["x-gzip", gzipSync(text)],
      ["deflate", deflateSync(text)],
      ["identity", Buffer.from(text)],
    ])("%s is taken", async (encoding, body) => {
      expect((await sendAs(body, encoding)).status).toBe(201);
    });

    test("a batch that is small only when compressed is taken", async () => {
      const events = Array.from({ length: 1000 }, () => ({ ...event, properties: { text: "x".repeat(1500) } }));
      const body = gzipSync(JSON.stringify({ events }));
      const answer = await api.post("/v1/events/batch", body, { headers: { "content-encoding": "gzip" } });
      expect(answer.body.data.counts).toEqual({ succeeded: 1000, failed: 0 });
    });

    test.each([
      ["br", brotliCompressSync(text)],
      ["gzip, gzip", gzipSync(gzipSync(text))],
      ["constructor", Buffer.from(text)],
      ["", Buffer.from(text)],
    ])("%j is refused, and what is taken is told", async (encoding, body) => {
      const answer = await sendAs(body, encoding);
      expectError(answer, 415, "unsupported_media_type", null);
      expect(answer.headers.get("accept-encoding")).toBe("gzip, deflate");
    });

    test.each([
      ["no gzip", Buffer.from(text)],
      ["gzip cut short", gzipSync(text).subarray(0, -10)],
      ["gzip of another length than it says", Buffer.concat([gzipSync(text).subarray(0, -4), Buffer.alloc(4, 1)])],
    ])("%s", async (_name, body) => {
      expectError(await sendAs(body, "gzip"), 400, "bad_request", null);
    });

    test("nothing at all", async () => {
      expectError(await sendAs(new Uint8Array(), "gzip"), 400, "bad_request", null);
    });

    test("what inflates a thousandfold is refused once it is too large", async () => {
      const part = gzipSync(Buffer.alloc(16 * 1024 * 1024, " "));
      const bomb = Buffer.concat(Array.from({ length: 100 }, () => part));
      expect(bomb.length).toBeLessThan(2 * 1024 * 1024);
      expectError(await sendAs(bomb, "gzip"), 413, "request_too_large", null);
      expect((await sendAs(gzipSync(text), "gzip")).status).toBe(201);
    });

    test("compressed text that never gives a byte is refused once it is too large", async () => {
      const wire = await openWire(daybook().baseUrl);
      wire.write(
        `POST /v1/events HTTP/1.1\r\nHost: a\r\n${key()}Content-Type: application/json\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      const nothing = Buffer.concat(Array.from({ length: 3000 }, () => gzipSync("")));
      for (let sent = 0; sent < 2_200_000; sent += nothing.length) {
        wire.write(`${nothing.length.toString(16)}\r\n`);
        wire.write(nothing);
        wire.write("\r\n");
      }
      const [answer] = await wire.answers(1);
      expectRefusal(answer, 413, "request_too_large");
      wire.end();
    });
  });

  test("the body for a path that is not there is not looked at", async () => {
    for (const path of ["/nothing", "/v1/nothing", "/docs/nothing"]) {
      expectError(await api.post(path, "{"), 404, "resource_not_found", null);
      const headers = { "content-encoding": "gzip" };
      expectError(await api.post(path, "no gzip", { headers }), 404, "resource_not_found", null);
    }
  });

  test("40,000 keys in the properties of an event are its own business, as long as they fit", async () => {
    const properties = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`k${index}`, 1]));
    expectError(await api.post("/v1/events", { ...event, properties }), 400, "parameter_invalid", "properties");
  });

  test("duplicate parameters are refused by name", async () => {
    expectError(await api.get("/v1/metrics?filter[name]=a&filter[name]=b"), 400, "parameter_invalid", "filter[name]");
  });
});

describe("limits of time and number", () => {
  const owner = new Owner();
  const registry = new Registry();
  let daybook: TestDaybook;
  beforeAll(async () => {
    const listener = {
      ...listenerLimits,
      connectionsMax: 5,
      headersTimeoutMs: 500,
      requestTimeoutMs: 1_000,
      timeoutsCheckMs: 100,
    };
    daybook = await startSingleProcess(owner, { edge: { listener }, registry });
  });
  afterAll(() => owner.close());

  test.each([
    ["no request at all", "G"],
    ["headers that never end", "GET /v1/account HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n"],
    [
      "a body that never comes",
      "POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n{",
    ],
  ])("%s ends in 408, and the connection is closed", async (name, text) => {
    const api = await daybook.newProperty();
    const wire = await openWire(daybook.baseUrl);
    wire.write(
      name.startsWith("a body") ? text.replace("Host: a", `Host: a\r\nAuthorization: Bearer ${api.secret}`) : text,
    );
    const answers = splitAnswers(await wire.closed);
    expect(answers).toHaveLength(1);
    expectRefusal(answers[0], 408, "request_timeout");
    wire.end();
  });

  test("a body that never comes to the compatibility surface ends in its form", async () => {
    const { secret } = await daybook.newProperty();
    const wire = await openWire(daybook.baseUrl);
    const head = `POST /api//events/ HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n`;
    wire.write(`${head}Content-Length: 5\r\n\r\n{`);
    const [answer, ...others] = splitAnswers(await wire.closed);
    expect([answer?.status, answer?.headers.get("content-type"), others]).toEqual([
      408,
      "application/vnd.api+json",
      [],
    ]);
    expect(JSON.parse(answer?.body ?? "").errors).toMatchObject([
      { status: 408, code: "request_timeout", source: { pointer: "/data" } },
    ]);
    wire.end();
  });

  test("connections beyond the limit are closed unread and counted, and those that are there go on", async () => {
    const api = createApi(daybook.baseUrl);
    const wires: Socket[] = [];
    const count = (): Promise<number> =>
      new Promise((resolve) => {
        const { port } = new URL(daybook.baseUrl);
        const socket = connect(Number(port), "127.0.0.1");
        socket.on("error", () => resolve(0)).on("close", () => resolve(0));
        socket.once("data", () => {
          wires.push(socket);
          socket.removeAllListeners("close");
          resolve(1);
        });
        socket.write("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n");
      });
    const open: number[] = [];
    // Those of earlier requests are kept alive; sooner or later there are too many.
    while (!open.includes(0)) open.push(await count());
    expect(open.length).toBeLessThanOrEqual(6);
    const metric = await registry.getSingleMetricAsString("daybook_http_connections_dropped_total");
    expect(metric).toMatch(/total{limit="all"} 1$/m);
    for (const wire of wires) wire.destroy();
    expect(await eventually(async () => (await api.get("/health/live").catch(() => undefined))?.status)).toBe(200);
  });
});
