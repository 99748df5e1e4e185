/**
 * Clients that ask and do not read: their answers take a bounded part of the memory for a bounded time, and others
 * notice nothing.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Socket } from "node:net";
import { Owner } from "#shared/process/lifecycle.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { byteLimits, listenerLimits } from "../../gateway/listener/limits.ts";
import { createApi } from "../support/api.ts";
import { startSingleProcess, type SingleProcess, type TestProperty } from "../support/daybook.ts";
import { serveServices, startGateway } from "../support/gateway.ts";
import { eventually } from "../support/processes.ts";
import { getText, openNonReaders, openSocket } from "../support/sockets.ts";
import { openWire } from "../support/wire.ts";

const owner = new Owner();
const registry = createRegistry();
const stalledMs = 2_000;
const mebibyte = 1024 * 1024;
const bytes = { ...byteLimits, answerBytesPerKeyMax: 64 * mebibyte, bodyBytesPerKeyMax: 8 * mebibyte };
const page = "/v1/events?page[limit]=100";
let daybook: SingleProcess;
/** A property whose pages have some 9 MB. */
let large: TestProperty;
let sockets: Socket[] = [];

beforeAll(async () => {
  const listener = { ...listenerLimits, answerStalledMs: stalledMs, timeoutsCheckMs: 100 };
  daybook = await startSingleProcess(owner, { edge: { listener, bytes }, registry });
  large = await daybook.newProperty();
  for (let batch = 0; batch < 10; batch++) {
    const events = Array.from({ length: 10 }, () => ({
      type: "a.b",
      identifier: { type: "external_id", value: "1" },
      properties: { text: "x".repeat(90_000) },
    }));
    const { body } = await large.post("/v1/events/batch", { events });
    if (body.data.counts.failed !== 0) throw new Error(JSON.stringify(body));
  }
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
});
afterAll(() => owner.close());

async function metric(name: string): Promise<number> {
  const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] };
  return values.reduce((sum, { value }) => sum + value, 0);
}

async function pagesMade(): Promise<number> {
  const { values } = (await registry.getSingleMetric("daybook_rpc_duration_seconds")?.get()) ?? { values: [] };
  return values
    .filter((value) => "metricName" in value && String(value.metricName).endsWith("_count"))
    .filter(({ labels }) => labels["method"] === "ListEvents")
    .reduce((sum, { value }) => sum + value, 0);
}

describe("one hundred requests for pages in one packet", () => {
  test("are made one at a time, and those behind an answer that is not read are not made", async () => {
    const before = await pagesMade();
    sockets = await openNonReaders(daybook.baseUrl, 1, getText(page, large.secret).repeat(100));
    await eventually(async () => ((await pagesMade()) > before ? true : undefined));
    await sleep(500);
    expect((await pagesMade()) - before).toBe(1);
  });

  test("are all answered, in their order, to who reads", async () => {
    const wire = await openWire(daybook.baseUrl);
    const paths = Array.from({ length: 50 }, (_, index) => `/v1/events?page[limit]=${(index % 3) + 1}`);
    wire.write(paths.map((path) => getText(path, large.secret)).join(""));
    const answers = await wire.answers(paths.length);
    expect(answers.map(({ body }) => JSON.parse(body).data.length)).toEqual(paths.map((_, index) => (index % 3) + 1));
    wire.end();
  });

  test("more of them than a client has on its way end the connection", async () => {
    const socket = await openSocket(daybook.baseUrl);
    sockets = [socket];
    socket.write(getText("/v1/account", large.secret).repeat(1_000));
    socket.resume();
    expect(await eventually(() => (socket.destroyed ? true : undefined))).toBe(true);
  });
});

test("an answer that nobody reads ends its connection, and is forgotten", async () => {
  const closed = await metric("daybook_http_unread_answers_total");
  sockets = await openNonReaders(daybook.baseUrl, 1, getText(page, large.secret));
  expect(
    await eventually(async () => ((await metric("daybook_http_bytes_under_way")) > 8 * mebibyte ? true : undefined)),
  ).toBe(true);
  await eventually(async () => ((await metric("daybook_http_unread_answers_total")) > closed ? true : undefined));
  await eventually(async () => ((await metric("daybook_http_bytes_under_way")) === 0 ? true : undefined));
});

test("sending on does not keep an answer that nobody reads", async () => {
  const [socket] = (sockets = await openNonReaders(daybook.baseUrl, 1, getText(page, large.secret)));
  const closed = await metric("daybook_http_unread_answers_total");
  const timer = setInterval(() => socket?.write(getText("/v1/account", large.secret)), stalledMs / 4);
  try {
    const isClosed = async () => ((await metric("daybook_http_unread_answers_total")) > closed ? true : undefined);
    expect(await eventually(isClosed)).toBe(true);
  } finally {
    clearInterval(timer);
  }
});

test("a slow reader gets the whole answer, however long it takes", async () => {
  const socket = await openSocket(daybook.baseUrl);
  sockets = [socket];
  socket.write(getText(page, large.secret));
  let received = 0;
  // Slow enough for it to last longer than an answer may stand still.
  for (let turn = 0; received < 9_000_000 && !socket.destroyed; turn++) {
    received += (socket.read() as Buffer | null)?.length ?? 0;
    await sleep(turn % 4 === 0 ? 60 : 10);
  }
  expect(received).toBeGreaterThanOrEqual(9_000_000);
});

describe("beside many that do not read", () => {
  test("their key is refused further pages and goes on recording; other keys get all they ask for", async () => {
    const other = await daybook.newProperty();
    const event = { type: "a.b", identifier: { type: "external_id", value: "1" }, properties: {} };
    sockets = await openNonReaders(daybook.baseUrl, 60, getText(page, large.secret));
    const refused = await eventually(async () => {
      const answer = await large.get("/v1/events?page[limit]=1");
      return answer.status === 429 ? answer : undefined;
    });
    expect(refused.body.error).toMatchObject({ code: "rate_limited", retryable: true, retry_after_ms: 1_000 });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await large.post("/v1/events", event)).status).toBe(201);
    for (let turn = 0; turn < 20; turn++) {
      expect((await other.post("/v1/events", event)).status).toBe(201);
      expect((await other.get("/v1/events")).status).toBe(200);
    }
    // A quarter of its share, and the pages that were being made when that was reached.
    expect(await metric("daybook_http_bytes_under_way")).toBeLessThan((16 + 4 * 10) * mebibyte);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => ((await large.get("/v1/events?page[limit]=1")).status === 200 ? true : undefined));
  });
});

test("five hundred that do not read take less than 200 MB of a gateway, and other keys get all they ask for", async () => {
  const gateway = await startGateway(await serveServices(daybook, owner), owner);
  const other = createApi(gateway.baseUrl, (await daybook.newProperty()).secret);
  const residentBytes = async (): Promise<number> => {
    const text = await (await fetch(`${gateway.internalUrl}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]);
  };
  // Two pages that are read: what making them takes at all is not what stays.
  const reader = createApi(gateway.baseUrl, large.secret);
  for (let turn = 0; turn < 2; turn++) expect((await reader.get(page)).status).toBe(200);
  const before = await residentBytes();
  sockets = await openNonReaders(gateway.baseUrl, 500, getText(page, large.secret));
  let peak = 0;
  const event = { type: "a.b", identifier: { type: "external_id", value: "1" }, properties: {} };
  for (let turn = 0; turn < 50; turn++) {
    expect((await other.post("/v1/events", event)).status).toBe(201);
    expect((await other.get("/v1/events?page[limit]=1")).status).toBe(200);
    peak = Math.max(peak, await residentBytes());
    await sleep(50);
  }
  expect((peak - before) / mebibyte).toBeLessThan(200);
});

describe("bodies that do not end", () => {
  const begin = (secret: string, more: string, body: string): string =>
    `POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n${more}\r\n\r\n${body}`;
  const chunk = `80000\r\n${" ".repeat(0x80000)}\r\n`;

  test.each([
    ["announced", "Content-Length: 2000000", "{"],
    ["in chunks", "Transfer-Encoding: chunked", chunk.repeat(3)],
  ])("%s: a key has no more of them than fit into its share", async (_how, more, body) => {
    const api = await daybook.newProperty();
    expect((await api.get("/v1/account")).status).toBe(200);
    sockets = await openNonReaders(daybook.baseUrl, 20, begin(api.secret, more, body));
    const statuses: string[] = [];
    for (const socket of sockets) socket.on("data", (data) => statuses.push(data.toString("latin1", 9, 12))).resume();
    await eventually(() => (statuses.length >= 14 ? true : undefined), { explain: () => statuses.join() });
    expect(new Set(statuses)).toEqual(new Set(["429"]));
    expect(await metric("daybook_http_bytes_under_way")).toBeLessThanOrEqual(bytes.bodyBytesPerKeyMax);
    // Others are not touched, and so is the key as soon as its bodies have ended.
    expect((await large.post("/v1/profiles/upsert", {})).status).toBe(400);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => ((await metric("daybook_http_bytes_under_way")) === 0 ? true : undefined));
    expect((await api.post("/v1/profiles/upsert", {})).status).toBe(400);
  });
});

test("clients that leave while their pages are made leave nothing behind, and keep no turn", async () => {
  for (let turn = 0; turn < 5; turn++) {
    sockets = await openNonReaders(daybook.baseUrl, 20, getText(page, large.secret));
    await sleep(30);
    for (const socket of sockets) socket.destroy();
  }
  // Long before turns that nobody ends are taken back.
  const isRead = async () => ((await large.get("/v1/events?page[limit]=1")).status === 200 ? true : undefined);
  expect(await eventually(isRead, { timeoutMs: 15_000 })).toBe(true);
  const isFree = async () => ((await metric("daybook_http_bytes_under_way")) === 0 ? true : undefined);
  expect(await eventually(isFree, { timeoutMs: 15_000 })).toBe(true);
});
