/** The live stream: every event once or counted as skipped, over reconnects, until the session or the process ends. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { startSingleProcess, testCall, type SingleProcess, type TestProperty } from "../support/daybook.ts";
import { newBrowser, sameOrigin, type Browser } from "../support/dashboard-http.ts";
import { newMember } from "../support/members.ts";
import { eventually } from "../support/processes.ts";

const owner = new Owner();
const registry = createRegistry();
let daybook: SingleProcess;
let property: TestProperty;
let ada: Browser;

beforeAll(async () => {
  daybook = await startSingleProcess(owner, { registry });
  property = await daybook.newProperty();
  ada = await newBrowser(daybook, [{ propertyId: property.propertyId, role: Role.VIEWER }]);
}, 120_000);

afterAll(() => owner.close());

interface Message {
  event: string;
  id: string;
  // Tests read data of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any;
}

interface Stream {
  messages: Message[];
  lastId: () => string;
  /** Resolves when the server has ended it. */
  ended: Promise<void>;
  leave(): void;
}

/** Opens a stream as EventSource does, and waits for its beginning. */
async function open(
  { cookie }: Pick<Browser, "cookie">,
  { query = "", lastId, base = daybook.baseUrl }: { query?: string; lastId?: string; base?: string } = {},
): Promise<Stream> {
  const leaving = new AbortController();
  const response = await fetch(`${base}/dashboard/${property.propertyId}/live${query}`, {
    headers: { ...sameOrigin, cookie, ...(lastId === undefined ? {} : { "last-event-id": lastId }) },
    signal: leaving.signal,
  });
  if (response.status !== 200) throw new Error(await response.text());
  const messages: Message[] = [];
  let id = lastId ?? "";
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
        id = field("id") ?? id;
        const data = field("data");
        if (data !== undefined) messages.push({ event: field("event") ?? "", id, data: JSON.parse(data) as unknown });
      }
    }
  };
  const ended = read().catch(() => undefined);
  if (lastId === undefined) await eventually(() => messages[0]);
  return { messages, lastId: () => id, ended, leave: () => leaving.abort() };
}

const frames = (streams: readonly Stream[]): Message[] =>
  streams.flatMap(({ messages }) => messages.filter(({ event }) => event === "frame"));
const shownIds = (streams: readonly Stream[]): string[] =>
  frames(streams).flatMap(({ data }) => (data.events as { id: string }[]).map(({ id }) => id).toReversed());
const skippedIn = (streams: readonly Stream[]): number =>
  frames(streams).reduce((sum, { data }) => sum + Number(data.skipped), 0);

/** Records events. @returns their ids. */
async function record(count: number, type = "order.completed"): Promise<string[]> {
  const reference = { case: "identifier", value: { type: "email", value: "live@example.com" } } as const;
  const events = Array.from({ length: count }, () => ({
    type,
    profile: { reference },
    propertiesJson: "{}",
    source: "api",
  }));
  const { results } = await daybook.clients.events.recordEvents({ propertyId: property.propertyId, events }, testCall);
  return results.map(({ outcome }) => {
    if (outcome.case !== "recorded") throw new Error(JSON.stringify(outcome.value));
    return outcome.value.eventId;
  });
}

describe("a live stream", () => {
  test("shows or counts each event once under writes, for all who watch, over reconnects", async () => {
    const [steady, later] = [await open(ada), await open(ada)];
    const broken = [await open(ada)];
    let recorded = 0;
    for (let round = 0; round < 12; round++) {
      // Few that are all shown, and many of which most are skipped.
      const count = round % 3 === 2 ? 150 : 4;
      await record(count);
      recorded += count;
      const last = broken.at(-1) as Stream;
      last.leave();
      await last.ended;
      broken.push(await open(ada, { lastId: last.lastId() }));
    }
    const streams = [[steady], [later], broken];
    const total = (some: readonly Stream[]): number => shownIds(some).length + skippedIn(some);
    await eventually(() => streams.every((some) => total(some) === recorded) || undefined, {
      timeoutMs: 15_000,
      explain: () => JSON.stringify([recorded, ...streams.map(total)]),
    });
    for (const some of streams) {
      const ids = shownIds(some);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toEqual(ids.toSorted());
      expect(skippedIn(some)).toBeGreaterThan(0);
    }
    for (const stream of [steady, later, ...broken]) stream.leave();
  }, 60_000);

  test("keeps to its filters", async () => {
    const stream = await open(ada, { query: "?type=cart_updated" });
    await record(3, "order.completed");
    const ids = await record(2, "cart.updated");
    await eventually(() => shownIds([stream]).length === 2 || undefined);
    expect(shownIds([stream]).toSorted()).toEqual(ids.toSorted());
    stream.leave();
  });

  test("is refused to who may not look, and to other sites", async () => {
    const path = `${daybook.baseUrl}/dashboard/${property.propertyId}/live`;
    const stranger = await newBrowser(daybook, [
      { propertyId: (await daybook.newProperty()).propertyId, role: Role.ADMIN },
    ]);
    const statusOf = async (query: string, headers: Record<string, string>): Promise<number> => {
      const response = await fetch(path + query, { headers });
      await response.body?.cancel();
      return response.status;
    };
    const { cookie } = ada;
    expect(await statusOf("", { cookie: stranger.cookie, ...sameOrigin })).toBe(404);
    expect(await statusOf("", { ...sameOrigin })).toBe(401);
    expect(await statusOf("", { cookie, "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await statusOf("", { cookie })).toBe(403);
    for (const query of ["?after=nonsense", "?profile_id=nobody", "?with_system=1", "?type=a&type=b"]) {
      expect([query, await statusOf(query, { cookie, ...sameOrigin })]).toEqual([query, 400]);
    }
    for (const lastId of ["nonsense", "A".repeat(10_000)]) {
      expect(await statusOf("", { cookie, ...sameOrigin, "last-event-id": lastId })).toBe(400);
    }
  });

  test("has a limit for each member", async () => {
    const eve = await newBrowser(daybook, [{ propertyId: property.propertyId, role: Role.VIEWER }]);
    const streams = await Promise.all(Array.from({ length: 20 }, () => open(eve)));
    await expect(open(eve)).rejects.toThrow("too many live streams");
    for (const stream of streams) stream.leave();
    await eventually(() => open(eve).then((stream) => (stream.leave(), true as const)));
  });

  test("is not counted when its browser leaves before it begins", async () => {
    const path = `/dashboard/${property.propertyId}/live`;
    const { port, host } = new URL(daybook.baseUrl);
    const leave = async (): Promise<void> => {
      // Nobody has looked at her session yet, so that her request waits for it.
      const eve = await newMember(daybook, [{ propertyId: property.propertyId, role: Role.VIEWER }]);
      const cookie = `${eve.cookie.name}=${eve.cookie.value}`;
      const head = [`GET ${path} HTTP/1.1`, `Host: ${host}`, "Sec-Fetch-Site: same-origin", `Cookie: ${cookie}`];
      const socket = connect(Number(port), "127.0.0.1");
      socket.write(`${head.join("\r\n")}\r\n\r\n`, () => socket.resetAndDestroy());
      await once(socket, "close");
      // It waits for the same session, so it begins after the first request is through.
      const later = await open({ cookie });
      later.leave();
      await later.ended;
    };
    await Promise.all(Array.from({ length: 5 }, leave));
    await expect
      .poll(async () => (await registry.getSingleMetric("daybook_dashboard_streams")?.get())?.values[0]?.value)
      .toBe(0);
  });

  test("ends soon after its session does", async () => {
    const eve = await newBrowser(daybook, [{ propertyId: property.propertyId, role: Role.VIEWER }]);
    const stream = await open(eve);
    const startMs = performance.now();
    await daybook.clients.members.removeMember({ memberId: eve.memberId }, testCall);
    await stream.ended;
    expect(performance.now() - startMs).toBeLessThan(5_000);
    expect(stream.messages.at(-1)).toMatchObject({ event: "end", data: { reason: "signed_out" } });
  });

  test("ends when the process stops, which waits for no stream", async () => {
    const stopping = new Owner();
    const { databaseUrl } = daybook;
    const second = await startSingleProcess(stopping, { databaseUrl });
    const stream = await open(
      { ...ada, cookie: ada.cookie.replace(/-\d+=/, `-${new URL(second.baseUrl).port}=`) },
      {
        base: second.baseUrl,
      },
    );
    const closed = stopping.close();
    await stream.ended;
    expect(stream.messages.at(-1)).toMatchObject({ event: "end", data: { reason: "shutdown" } });
    const startMs = performance.now();
    await closed;
    // Connections that do not end are cut after 10 seconds.
    expect(performance.now() - startMs).toBeLessThan(8_000);
  }, 60_000);
});
