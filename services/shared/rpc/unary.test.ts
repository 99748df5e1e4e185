/** Unary calls over HTTP/2: each form of a call is answered alike, and one that is cut off reaches no handler. */
import { once } from "node:events";
import { connect, constants, createServer, type ClientHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type HandlerContext } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  GetEventsRequestSchema,
  GetEventsResponseSchema,
  EventService,
  type GetEventsRequest,
} from "#proto/daybook/event/v1/event_pb.ts";
import { createLog } from "../process/log.ts";
import { Owner } from "../process/lifecycle.ts";
import { DaybookError } from "../values/errors.ts";
import { eventually } from "../../../test/support/processes.ts";
import { createRegistry, serveRpc } from "./server.ts";
import { http2Transport, requestBytesMax } from "./transport.ts";

const owner = new Owner();
const credential = "a credential of this test";
const path = `/${EventService.typeName}/GetEvents`;
const binary = "application/proto";
const empty = toBinary(GetEventsResponseSchema, create(GetEventsResponseSchema));

/** What the service does, and the calls that reached it. */
let handle: (request: GetEventsRequest, context: HandlerContext) => Promise<object>;
let handled: GetEventsRequest[];
let address: string;
let session: ClientHttp2Session;

beforeEach(async () => {
  handled = [];
  handle = () => Promise.resolve({});
  const server = owner.own(
    await serveRpc({
      routes: (router) => {
        router.service(EventService, {
          getEvents(request, context) {
            handled.push(request);
            return handle(request, context);
          },
        });
      },
      credentials: [credential],
      host: "127.0.0.1",
      port: 0,
      log: createLog("unary", "silent"),
      registry: createRegistry(),
    }),
  );
  ({ address } = server);
  session = connect(address);
  owner.defer(async () => session.destroy());
});
afterEach(() => owner.close());

interface Answer {
  status: number | undefined;
  headers: Record<string, unknown>;
  body: Buffer;
}

function start(headers: Record<string, string> = {}) {
  const authorization = `Bearer ${credential}`;
  return session.request({ ":method": "POST", ":path": path, "content-type": binary, authorization, ...headers });
}

async function answerOf(stream: ReturnType<typeof start>): Promise<Answer> {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  if (!stream.readableEnded) await once(stream, "end");
  return { status: headers[":status"] as number, headers, body: Buffer.concat(chunks) };
}

async function send(body: Uint8Array | string, headers: Record<string, string> = {}): Promise<Answer> {
  const stream = start(headers);
  stream.end(body);
  return answerOf(stream);
}

const request = create(GetEventsRequestSchema, { propertyId: "prop_1", eventIds: ["evt_1", "evt_2"] });
const message = toBinary(GetEventsRequestSchema, request);
/** One call as a binary message, compressed, and as JSON. Only the first is served by unary-server.ts. */
const forms: [name: string, body: Uint8Array | string, headers: Record<string, string>][] = [
  ["binary", message, {}],
  ["gzip", gzipSync(message), { "content-encoding": "gzip" }],
  ["JSON", '{"propertyId":"prop_1","eventIds":["evt_1","evt_2"]}', { "content-type": "application/json" }],
];

test.each(forms)("%s: the same call and the same answer", async (_name, body, headers) => {
  handle = async (_request, context) => {
    context.responseHeader.set("x-one", "1");
    context.responseTrailer.set("x-two", "2");
    return {};
  };
  const answer = await send(body, headers);
  expect(answer).toMatchObject({ status: 200, headers: { "x-one": "1", "trailer-x-two": "2" } });
  expect(answer.headers["content-type"]).toBe(headers["content-type"] ?? binary);
  expect(handled).toEqual([request]);
});

test.each(forms)("%s: the same refusals", async (_name, body, headers) => {
  handle = () => {
    throw new DaybookError("resource_not_found", "no such event", { param: "event_ids.1" });
  };
  const refused = await send(body, headers);
  const client = createClient(EventService, http2Transport(address, credential));
  const error = await client.getEvents(request).catch((thrown: unknown) => ConnectError.from(thrown));
  expect(JSON.parse(refused.body.toString())).toMatchObject({ code: "not_found", message: "no such event" });
  expect(refused).toMatchObject({ status: 404, headers: { "content-type": "application/json" } });
  expect(error).toMatchObject({ code: Code.NotFound, rawMessage: "no such event", details: [expect.anything()] });

  const stranger = await send(body, { ...headers, authorization: "Bearer another" });
  expect(stranger.status).toBe(401);
  expect(JSON.parse(stranger.body.toString())).toMatchObject({ code: "unauthenticated" });
  const late = await send(body, { ...headers, "connect-timeout-ms": "soon" });
  expect(JSON.parse(late.body.toString())).toMatchObject({ code: "invalid_argument" });
  expect(handled).toHaveLength(2);
});

test.each(forms)("%s: a deadline, and a caller who leaves, end the handler's signal", async (_name, body, headers) => {
  const reasons: unknown[] = [];
  handle = async (_request, { signal }) => {
    await once(signal, "abort");
    reasons.push(ConnectError.from(signal.reason).code);
    throw signal.reason;
  };
  const late = await send(body, { ...headers, "connect-timeout-ms": "50" });
  expect(JSON.parse(late.body.toString())).toMatchObject({ code: "deadline_exceeded" });
  const stream = start(headers);
  stream.on("error", () => undefined).end(body);
  await eventually(() => handled.length === 2 || undefined);
  stream.close(constants.NGHTTP2_CANCEL);
  await eventually(() => reasons.length === 2 || undefined);
  expect(reasons).toEqual([Code.DeadlineExceeded, Code.Canceled]);
});

test("a call without a body is one with an empty message", async () => {
  expect(await send("")).toMatchObject({ status: 200, body: Buffer.from(empty) });
  expect(handled).toEqual([create(GetEventsRequestSchema)]);
});

test("an answer that cannot be written is an error that tells nothing", async () => {
  handle = () => Promise.resolve({ events: [{ receivedAt: { seconds: "a secret" } }] });
  const { status, body } = await send(message);
  expect([status, JSON.parse(body.toString())]).toEqual([500, { code: "internal", message: "internal error" }]);
});

test("a caller that waits to be told to go on is told", async () => {
  const stream = start({ expect: "100-continue" });
  stream.once("continue", () => stream.end(message));
  expect(await answerOf(stream)).toMatchObject({ status: 200 });
  expect(handled).toEqual([request]);
});

test("a call that is cut off in its body reaches no handler, wherever it is cut", async () => {
  const cuts: [cut: (stream: ReturnType<typeof start>) => unknown, length?: number][] = [
    [(stream) => stream.destroy()],
    [(stream) => stream.destroy(new Error("cut off"))],
    // node:http2 says that a stream which it closes was whole, so its length must tell that it was not.
    [(stream) => stream.close(constants.NGHTTP2_NO_ERROR), message.length],
    [(stream) => stream.close(constants.NGHTTP2_CANCEL), message.length],
    [() => session.destroy()],
  ];
  for (const [cut, length] of cuts) {
    const stream = start(length ? { "content-length": String(length) } : {}).on("error", () => undefined);
    // One field of the two: a message of its own, if it were taken as a whole one.
    stream.write(message.subarray(0, 8));
    await sleep(50);
    cut(stream);
  }
  await sleep(200);
  expect(handled).toEqual([]);
  expect(fromBinary(GetEventsRequestSchema, message.subarray(0, 8)).propertyId).toBe("prop_1");
});

test("the deadline ends the wait for a body, too", async () => {
  const stream = start({ "connect-timeout-ms": "50" });
  stream.write(message.subarray(0, 8));
  const { body } = await answerOf(stream);
  expect(JSON.parse(body.toString())).toMatchObject({ code: "deadline_exceeded" });
  expect(handled).toEqual([]);
});

test("a message that is too large is refused before it is read, and as soon as it is too large", async () => {
  const stream = start({ "content-length": String(requestBytesMax + 1) }).on("error", () => undefined);
  stream.write("x");
  const refused = await answerOf(stream);
  const unannounced = start().on("error", () => undefined);
  unannounced.write(Buffer.alloc(requestBytesMax + 1));
  for (const { status, body } of [refused, await answerOf(unannounced)]) {
    expect([status, JSON.parse(body.toString()).code]).toEqual([429, "resource_exhausted"]);
  }
  expect(handled).toEqual([]);
  // The connection goes on.
  expect((await send(message)).status).toBe(200);
});

test("what is no message is refused", async () => {
  const { status, body } = await send(Buffer.from([0xff, 0xff, 0xff]));
  expect([status, JSON.parse(body.toString()).code]).toEqual([400, "invalid_argument"]);
  expect(handled).toEqual([]);
});

function respond(status: number, type: string, body: string) {
  return (stream: ServerHttp2Stream): void => {
    stream.respond({ ":status": status, "content-type": type });
    stream.end(body);
  };
}

test("an answer that is cut off, or that is no message, is an error of the call", async () => {
  const answers: [answer: (stream: ServerHttp2Stream) => void, code: Code][] = [
    [(stream) => stream.close(constants.NGHTTP2_CANCEL), Code.Unavailable],
    [(stream) => stream.session?.destroy(), Code.Unavailable],
    [respond(502, "text/html", ""), Code.Unavailable],
    [respond(200, "text/html", ""), Code.Internal],
    [respond(200, binary, "\u00ff"), Code.Internal],
    [respond(401, "application/json; charset=utf-8", "{}"), Code.Unauthenticated],
    [respond(401, "application/json", "{"), Code.Unauthenticated],
  ];
  for (const code of [constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_CANCEL, constants.NGHTTP2_INTERNAL_ERROR]) {
    answers.push([
      (stream) => {
        stream.respond({ ":status": 200, "content-type": binary, "content-length": message.length });
        stream.write(message.subarray(0, 8), () => setTimeout(() => stream.close(code), 20));
      },
      Code.Unavailable,
    ]);
  }
  for (const [answer, code] of answers) {
    const server = createServer();
    server.on("stream", (stream: ServerHttp2Stream) => {
      stream.on("error", () => undefined).resume();
      answer(stream);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    owner.defer(async () => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = createClient(EventService, http2Transport(url, credential));
    const failure = await client.getEvents(request, { timeoutMs: 5_000 }).then(
      () => "answered",
      (thrown: unknown) => ConnectError.from(thrown),
    );
    expect([answer.toString(), failure]).toEqual([answer.toString(), expect.objectContaining({ code })]);
  }
});
