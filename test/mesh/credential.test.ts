/** Who has no internal credential is refused by its headers: nothing more of what they send is read. */
import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect as connectTcp } from "node:net";
import type { DescService } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { BusService } from "#proto/daybook/common/v1/bus_pb.ts";
import { HealthService } from "#proto/daybook/common/v1/health_pb.ts";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createRegistry, serveRpc } from "#shared/rpc/server.ts";
import { singleProcessToken, startSingleProcess } from "../support/daybook.ts";

const owner = new Owner();
let singleProcessUrl: string;

beforeAll(async () => {
  const { routes } = await startSingleProcess(owner);
  const listener = { host: "127.0.0.1", port: 0, log: createLog("test", "silent"), registry: createRegistry() };
  singleProcessUrl = owner.own(await serveRpc({ routes, credentials: [singleProcessToken], ...listener })).address;
});
afterAll(() => owner.close());

const body = Buffer.alloc(12 * 1024 * 1024, " ");
// What HTTP/2 lets a client send before the server has said anything, and its headers.
const unaskedBytesMax = 128 * 1024;

const shared = [HealthService, BusService];
const servers: [name: string, url: () => string, services: DescService[]][] = [
  ["identity", () => inject("mesh").identityUrl, [IdentityService, ...shared]],
  ["profile", () => inject("mesh").profileUrl, [ProfileService, ...shared]],
  ["event", () => inject("mesh").eventUrl, [EventService, ...shared]],
  ["metric", () => inject("mesh").metricUrl, [MetricService, ...shared]],
  [
    "the single process",
    () => singleProcessUrl,
    [IdentityService, ProfileService, EventService, MetricService, ...shared],
  ],
];

/** Sends a large body, whole. @returns what is answered, and the bytes that the server took of the connection. */
async function post(
  url: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; text: string; bytesSent: number }> {
  const { hostname, port } = new URL(url);
  const socket = connectTcp(Number(port), hostname);
  const session = connectHttp2(url, { createConnection: () => socket, maxSessionMemory: 64 });
  session.on("error", () => undefined);
  try {
    const all = { ":method": "POST", ":path": path, "content-type": "application/json", ...headers };
    const stream = session.request(all);
    const closed = new Promise((resolve) => stream.once("close", resolve));
    stream.on("error", () => undefined);
    stream.end(body);
    const [answer] = (await once(stream, "response")) as [Record<string, unknown>];
    let text = "";
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    await closed;
    return { status: Number(answer[constants.HTTP2_HEADER_STATUS]), text, bytesSent: socket.bytesWritten };
  } finally {
    session.destroy();
  }
}

async function expectRefusal(url: string, path: string, headers: Record<string, string>): Promise<void> {
  const { status, text, bytesSent } = await post(url, path, headers);
  const refusal = { code: "unauthenticated", message: "this service answers only its own mesh" };
  expect([path, status, JSON.parse(text)]).toEqual([path, 401, refusal]);
  expect(bytesSent).toBeLessThan(unaskedBytesMax);
}

test.each(servers)("%s refuses strangers on every path", async (_name, url, services) => {
  const paths = services.flatMap(({ typeName, methods }) => methods.map(({ name }) => `/${typeName}/${name}`));
  const { length } = inject("mesh").internalToken;
  for (const path of [...paths, "/", "/no.such.Service/Method"]) {
    await expectRefusal(url(), path, {});
    await expectRefusal(url(), path, { authorization: `Bearer ${"y".repeat(length)}` });
  }
});

test("nothing that is almost the credential will do", async () => {
  const { eventUrl, internalToken } = inject("mesh");
  const path = `/${EventService.typeName}/RecordEvents`;
  const wrong = ["", "Bearer ", internalToken, `Bearer ${internalToken}x`, `Bearer ${internalToken.slice(0, -1)}`];
  for (const authorization of [...wrong, `Bearer ${"y".repeat(16_000)}`]) {
    await expectRefusal(eventUrl, path, { authorization });
  }
});

test("who has the credential is read whole", async () => {
  const { eventUrl, internalToken } = inject("mesh");
  const path = `/${EventService.typeName}/RecordEvents`;
  const { status, bytesSent } = await post(eventUrl, path, { authorization: `Bearer ${internalToken}` });
  // It has no JSON in it.
  expect(status).toBe(400);
  expect(bytesSent).toBeGreaterThan(body.length);
});
