/** SIGTERM of a gateway: it says that it leaves, goes on for a while, and loses no request. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createApi } from "../support/api.ts";
import { startSingleProcess, type SingleProcess, type TestProperty } from "../support/daybook.ts";
import { serveServices, startGateway } from "../support/gateway.ts";
import { eventually } from "../support/processes.ts";
import { closeOf, openSocket } from "../support/sockets.ts";
import { splitAnswers } from "../support/wire.ts";

const owner = new Owner();
let daybook: SingleProcess;
let api: TestProperty;
let servicesUrl: string;
beforeAll(async () => {
  daybook = await startSingleProcess(owner);
  api = await daybook.newProperty();
  servicesUrl = await serveServices(daybook, owner);
});
afterAll(() => owner.close());

const event = { type: "a.b", identifier: { type: "external_id", value: "1" }, properties: {} };

test("it is unready at once, and accepts and answers until the delay is over", async () => {
  const gateway = await startGateway(servicesUrl, owner, { SHUTDOWN_DELAY_MS: "6000" });
  const client = createApi(gateway.baseUrl, api.secret);
  const startMs = performance.now();
  gateway.child.kill("SIGTERM");
  await eventually(async () => ((await client.get("/health/ready")).status === 503 ? true : undefined), {
    timeoutMs: 3_000,
  });
  let answered = 0;
  while (performance.now() - startMs < 3_000) {
    const socket = await openSocket(gateway.baseUrl);
    socket.destroy();
    expect((await client.post("/v1/events", event)).status).toBe(201);
    const internal = await fetch(`${gateway.internalUrl}/health/ready`);
    expect(internal.status).toBe(503);
    await internal.arrayBuffer();
    answered++;
    await sleep(50);
  }
  expect(answered).toBeGreaterThan(3);
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
});

/** What became of the requests of one client. */
interface Outcome {
  answered: number;
  /** How many ended otherwise than with an answer, though they were sent. */
  lost: string[];
}

/**
 * Posts again and again until a connection is refused.
 * @param keepsAlive whether it uses a connection for as long as it may.
 */
async function postUntilRefused(baseUrl: string, keepsAlive: boolean): Promise<Outcome> {
  const body = JSON.stringify(event);
  const head = [
    "POST /v1/events HTTP/1.1",
    "Host: a",
    `Authorization: Bearer ${api.secret}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    ...(keepsAlive ? [] : ["Connection: close"]),
  ];
  const request = `${head.join("\r\n")}\r\n\r\n${body}`;
  const outcome: Outcome = { answered: 0, lost: [] };
  for (;;) {
    const socket = await openSocket(baseUrl).catch(() => undefined);
    if (!socket) return outcome;
    let text = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
    const closed = closeOf(socket);
    let requests = 0;
    for (let isOpen = true; isOpen; requests++) {
      text = "";
      const sentMs = performance.now();
      socket.write(request);
      await Promise.race([closed, answerOf(() => text)]);
      const [answer] = splitAnswers(text);
      if (answer?.status === 201) outcome.answered++;
      else
        outcome.lost.push(
          text || `no answer after ${performance.now() - sentMs} ms to request ${requests} of the connection`,
        );
      isOpen = answer !== undefined && answer.headers.get("connection") === "keep-alive";
    }
    socket.destroy();
  }
}

async function answerOf(text: () => string): Promise<void> {
  while (splitAnswers(text()).length === 0) await sleep(1);
}

test.each(["first", "second", "third"])(
  "of 32 clients that post again and again, nobody loses a request (%s time)",
  async () => {
    const gateway = await startGateway(servicesUrl, owner, { SHUTDOWN_DELAY_MS: "500" });
    const posting = Array.from({ length: 32 }, (_, index) => postUntilRefused(gateway.baseUrl, index % 2 === 0));
    await sleep(500);
    gateway.child.kill("SIGTERM");
    const outcomes = await Promise.all(posting);
    expect(outcomes.flatMap(({ lost }) => lost)).toEqual([]);
    expect(Math.min(...outcomes.map(({ answered }) => answered))).toBeGreaterThan(0);
    expect(await gateway.ended).toEqual({ code: 0, signal: null });
  },
);
