import { once } from "node:events";
import { constants, createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { createClient, type Client } from "@connectrpc/connect";
import { afterEach, expect, test } from "vitest";
import { HealthService } from "#proto/daybook/common/v1/health_pb.ts";
import { Owner } from "../process/lifecycle.ts";
import { http2Transport } from "./transport.ts";

const owner = new Owner();
afterEach(() => owner.close());

interface TestServer {
  client: Client<typeof HealthService>;
  /** The connections, oldest first. */
  sessions: ServerHttp2Session[];
  /** The index of the connection of each call. */
  calls: number[];
}

/** Serves the n-th call with `handle`. */
async function serve(handle: (stream: ServerHttp2Stream, index: number) => void): Promise<TestServer> {
  const server = createServer();
  const sessions: ServerHttp2Session[] = [];
  const calls: number[] = [];
  server.on("session", (session) => sessions.push(session));
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("error", () => undefined);
    stream.resume();
    calls.push(sessions.indexOf(stream.session as ServerHttp2Session));
    handle(stream, calls.length - 1);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  owner.defer(async () => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const client = createClient(HealthService, http2Transport(`http://127.0.0.1:${port}`, "a credential"));
  return { client, sessions, calls };
}

function answer(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200, "content-type": "application/proto" });
  stream.end();
}

test("a connection that ends while it is idle harms neither the process nor any call", async () => {
  const { client, sessions } = await serve(answer);
  // The call comes up to 11 turns of the event loop after GOAWAY: in one of them Node raises the error.
  const turnsMax = 12;
  for (let round = 0; round < turnsMax * 10; round++) {
    await client.checkHealth({});
    const ended = sessions.at(-1);
    const isClosed = ended && once(ended, "close");
    ended?.close();
    for (let turn = 0; turn < round % turnsMax; turn++) await new Promise(setImmediate);
    await client.checkHealth({});
    await isClosed;
  }
  expect(sessions.length).toBeGreaterThan(turnsMax * 10);
});

test("a refused call is repeated once, on a new connection", async () => {
  const { client, calls } = await serve((stream, index) =>
    index === 0 ? stream.close(constants.NGHTTP2_REFUSED_STREAM) : answer(stream),
  );
  await client.checkHealth({});
  expect(calls).toEqual([0, 1]);
});

test("a call that is refused twice fails", async () => {
  const { client, calls } = await serve((stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM));
  await expect(client.checkHealth({})).rejects.toThrow(/REFUSED_STREAM/);
  expect(calls).toEqual([0, 1]);
});

test("a call that may have been done is not repeated", async () => {
  const codes = [
    constants.NGHTTP2_NO_ERROR,
    constants.NGHTTP2_INTERNAL_ERROR,
    constants.NGHTTP2_CANCEL,
    constants.NGHTTP2_ENHANCE_YOUR_CALM,
  ];
  const ends: ((stream: ServerHttp2Stream) => void)[] = [
    ...codes.map((code) => (stream: ServerHttp2Stream) => stream.close(code)),
    (stream) => stream.session?.destroy(),
    (stream) => stream.session?.goaway(constants.NGHTTP2_INTERNAL_ERROR),
    (stream) => stream.respond({ ":status": 503 }, { endStream: true }),
  ];
  for (const end of ends) {
    const { client, calls } = await serve(end);
    await expect(client.checkHealth({}, { timeoutMs: 1_000 })).rejects.toThrow();
    expect([end.toString(), calls.length]).toEqual([end.toString(), 1]);
  }
});
