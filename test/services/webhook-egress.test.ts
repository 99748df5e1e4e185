/** What leaves Daybook, over real TLS: one attempt of a message, the limits of its answer, and where it never goes. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { systemClock } from "#shared/values/clock.ts";
import { newId, newUuid } from "#shared/values/ids.ts";
import { newSecret } from "../../services/webhook/domain/signing.ts";
import { checkUrl } from "../../services/webhook/domain/urls.ts";
import type { SendRequest } from "../../services/webhook/egress/attempt.ts";
import type { Lookup } from "../../services/webhook/egress/lookup.ts";
import { createNetworks } from "../../services/webhook/egress/networks.ts";
import { createSender, type Sender } from "../../services/webhook/egress/sender.ts";
import { createAuthority, reply, startListener, startReceiver, trust, type Authority } from "../support/receivers.ts";

const owner = new Owner();
let authority: Authority;
let stranger: Authority;
/** Sends to this machine too, and gives up soon. */
let sender: Sender;
beforeAll(async () => {
  [authority, stranger] = await Promise.all([createAuthority(), createAuthority()]);
  trust(authority, owner);
  sender = makeSender({ allowed: ["127.0.0.0/8"] });
});
afterAll(() => owner.close());

const here: Lookup = async () => [{ address: "127.0.0.1", family: 4 }];

function makeSender({ allowed = [] as string[], lookup = here, attemptTimeoutMs = 1_000 }): Sender {
  const networks = createNetworks(allowed);
  return owner.own(
    createSender({ networks, clock: systemClock, lookup, connectTimeoutMs: attemptTimeoutMs / 2, attemptTimeoutMs }),
  );
}

function requestTo(url: string, rest: Partial<SendRequest["target"]> = {}): SendRequest {
  const target = { endpointId: newUuid(), url, secrets: [newSecret()], headers: [], ...rest };
  return { target, messageId: newId("whm"), body: JSON.stringify({ greeting: "Grüße 🎉" }), attempt: 1 };
}

test("a message is signed with both secrets while one is rotated, and has the headers of its endpoint", async () => {
  const receiver = owner.own(await startReceiver(authority));
  const secrets = [newSecret(), newSecret()];
  const request = requestTo(`https://receiver.test:${receiver.port}/hook?a=b`, {
    secrets,
    headers: [{ name: "X-Shop", value: "tea" }],
  });
  expect(await sender.sendOnce({ ...request, attempt: 3 })).toMatchObject({ status: 204, error: null, excerpt: "" });
  const [received] = receiver.received;
  expect(received).toMatchObject({
    path: "/hook?a=b",
    body: request.body,
    headers: {
      host: `receiver.test:${receiver.port}`,
      "content-type": "application/json",
      "user-agent": "Daybook-Webhooks/1",
      "daybook-attempt": "3",
      "webhook-id": request.messageId,
      "x-shop": "tea",
    },
  });
  const headers = received?.headers as Record<string, string>;
  for (const secret of secrets) {
    expect(new Webhook(secret).verify(received?.body ?? "", headers)).toEqual({ greeting: "Grüße 🎉" });
  }
  expect(() => new Webhook(newSecret()).verify(received?.body ?? "", headers)).toThrow("No matching signature");
});

test("attempts share a connection, and one that the receiver has closed meanwhile costs no attempt", async () => {
  const receiver = owner.own(await startReceiver(authority));
  const request = requestTo(receiver.url);
  for (let index = 0; index < 3; index++) expect((await sender.sendOnce(request)).error).toBe(null);
  expect(receiver.connections()).toBe(1);
  // Answers once over each connection, and closes it without a word when the next request comes.
  const fickle = owner.own(
    await startListener(
      (socket) => {
        socket.once("data", () => {
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
          socket.once("data", () => socket.destroy());
        });
      },
      { authority },
    ),
  );
  const again = requestTo(`https://127.0.0.1:${fickle.port}/`);
  for (let index = 0; index < 3; index++) {
    expect(await sender.sendOnce(again)).toMatchObject({ status: 200, error: null });
    await setImmediate();
  }
  expect(fickle.connections()).toBe(3);
});

test("an endpoint that has another address does not use the connections of the one before", async () => {
  const [first, second] = [owner.own(await startReceiver(authority)), owner.own(await startReceiver(authority))];
  const request = requestTo(first.url);
  await sender.sendOnce(request);
  await sender.sendOnce({ ...request, target: { ...request.target, url: second.url } });
  expect([first.received.length, second.received.length]).toEqual([1, 1]);
});

const gigabyte = 1024 ** 3;
const ok = "HTTP/1.1 200 OK\r\n";

/** Writes as long as somebody reads. @returns the bytes written. */
function flood(socket: Socket, chunk: string): void {
  const bytes = Buffer.from(chunk.repeat(Math.ceil(16_384 / chunk.length)));
  const write = (): void => {
    while (!socket.destroyed && socket.bytesWritten < gigabyte && socket.write(bytes));
    if (!socket.destroyed && socket.bytesWritten < gigabyte) socket.once("drain", write);
  };
  write();
}

const bytesTakenMax = 8 * 1024 * 1024;

/** What a receiver does with a request, what the attempt says, and how much it may have read. */
const hostile: [name: string, act: (socket: Socket) => void, expected: object][] = [
  ["hangs", () => undefined, { status: null, error: "timeout" }],
  ["resets", (socket) => socket.destroy(), { status: null, error: "connection_refused" }],
  ["ends", (socket) => socket.end(), { status: null, error: "connection_refused" }],
  ["is not HTTP", (socket) => socket.end("220 mail.example.com ESMTP\r\n"), { error: "body_too_large" }],
  [
    "changes the protocol",
    (socket) => socket.write("HTTP/1.1 101 Up\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
    {},
  ],
  [
    "answers with a gigabyte",
    (socket) => {
      socket.write(`${ok}Content-Length: ${gigabyte}\r\n\r\n`);
      flood(socket, "x");
    },
    { status: 200, error: "body_too_large" },
  ],
  [
    "refuses with a gigabyte",
    (socket) => {
      socket.write(`HTTP/1.1 500 No\r\nContent-Length: ${gigabyte}\r\n\r\n`);
      flood(socket, "x");
    },
    { status: 500, error: "http_status", excerpt: "x".repeat(1_024) },
  ],
  [
    "sends informational answers without an end",
    (socket) => flood(socket, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    { status: null, error: "body_too_large" },
  ],
  [
    "sends a status line without an end",
    (socket) => {
      socket.write("HTTP/1.1 200 ");
      flood(socket, "y");
    },
    { status: null, error: "body_too_large" },
  ],
  [
    "sends extensions of a chunk without an end",
    (socket) => {
      socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\n1;`);
      flood(socket, "z");
    },
    { error: "body_too_large" },
  ],
  [
    "sends a byte at a time",
    (socket) => {
      socket.write(`${ok}Content-Length: 60000\r\n\r\n`);
      const timer = setInterval(() => socket.write("x"), 20);
      socket.once("close", () => clearInterval(timer));
    },
    { error: "timeout" },
  ],
  ["breaks off its body", (socket) => socket.end(`${ok}Content-Length: 9\r\n\r\nabc`), { error: "connection_refused" }],
  [
    "sends headers without an end",
    (socket) => {
      socket.write(ok);
      flood(socket, "X-Header: 0123456789\r\n");
    },
    { status: null, error: "body_too_large" },
  ],
  [
    "redirects",
    (socket) => socket.end("HTTP/1.1 307 Away\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
    { status: 307, error: "http_status" },
  ],
  [
    "says later",
    (socket) => socket.end("HTTP/1.1 429 Later\r\nRetry-After: 77\r\nContent-Length: 4\r\n\r\nlate"),
    { status: 429, error: "http_status", retryAfterSeconds: 77, excerpt: "late" },
  ],
  [
    "compresses its refusal",
    (socket) => socket.end("HTTP/1.1 400 No\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\0\0"),
    { status: 400, error: "http_status", excerpt: "" },
  ],
  [
    "has NUL and halves of characters in its refusal",
    (socket) => {
      const body = Buffer.concat([
        Buffer.from("a\0b\n"),
        Buffer.from([0xed, 0xa0, 0xbd]),
        Buffer.from("€".repeat(2_000)),
      ]);
      socket.write(`HTTP/1.1 400 No\r\nContent-Length: ${body.length}\r\n\r\n`);
      socket.end(body);
    },
    { status: 400, excerpt: expect.stringMatching(/^a\ufffdb\n\ufffd+€{1000,}$/) },
  ],
];

test.each(hostile)("a receiver that %s ends its attempt in time", async (_name, act, expected) => {
  let taken = 0;
  const listener = owner.own(
    await startListener(
      (socket) => {
        socket.once("data", () => act(socket));
        socket.once("close", () => (taken = socket.bytesWritten - socket.writableLength));
      },
      { authority },
    ),
  );
  const result = await sender.sendOnce(requestTo(`https://127.0.0.1:${listener.port}/`));
  expect(result.error).not.toBe(null);
  expect(result).toMatchObject(expected);
  expect(result.durationMs).toBeLessThan(1_500);
  expect(taken).toBeLessThan(bytesTakenMax);
});

test("a certificate of an unknown authority, or for another name, is refused before anything is sent", async () => {
  const [unknown, known] = [owner.own(await startReceiver(stranger)), owner.own(await startReceiver(authority))];
  for (const url of [unknown.url, `https://other.test:${known.port}/`]) {
    expect(await sender.sendOnce(requestTo(url))).toMatchObject({ status: null, error: "tls_error" });
  }
  // A server that speaks no TLS, or nothing.
  const plain = owner.own(await startListener((socket) => socket.end(`${ok}\r\n`)));
  expect(await sender.sendOnce(requestTo(`https://127.0.0.1:${plain.port}/`))).toMatchObject({ error: "tls_error" });
  const silent = owner.own(await startListener(() => undefined));
  expect(await sender.sendOnce(requestTo(`https://127.0.0.1:${silent.port}/`))).toMatchObject({ error: "timeout" });
  expect([...unknown.received, ...known.received]).toEqual([]);
});

/** Spellings of addresses inside, as URLs of a port. */
const inside: readonly string[] = [
  "127.0.0.1",
  "2130706433",
  "017700000001",
  "0x7f000001",
  "0x7f.1",
  "127.1",
  "127.0.0.1.",
  "１２７.0.0.1",
  "127。0。0。1",
  "%31%32%37.0.0.1",
  "0",
  "0.0.0.0",
  "[::]",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b:1::127.0.0.1]",
  "[2002:7f00:1::]",
  "[2001:0:7f00:1::]",
  "10.0.0.1",
  "100.64.0.1",
  "169.254.169.254",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "[100::1]",
  "[2001:db8::1]",
  "[3fff::1]",
  "[5f00::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "[fec0::1]",
  "[ff02::1]",
];

test("no spelling of an address inside gets a connection, nor do names that stand for one", async () => {
  // Takes connections of all addresses of this machine, with IPv6 and without.
  let reached = 0;
  const listener = owner.own(await startListener((socket) => void (reached++, socket.destroy()), { host: "::" }));
  const { port } = listener;
  const addresses = inside.map((host) => new URL(`https://${host}/`).hostname.replaceAll(/[[\]]/g, ""));
  let resolved: { address: string; family: number }[] = [];
  const guarded = makeSender({ lookup: async () => resolved });
  const { reachOf } = createNetworks([]);
  for (const [index, host] of inside.entries()) {
    for (const protocol of ["http", "https"]) {
      const url = `${protocol}://${host}:${port}/`;
      expect(() => checkUrl(url, reachOf)).toThrow(expect.objectContaining({ code: "url_not_allowed", param: "url" }));
      expect([url, (await guarded.sendOnce(requestTo(url))).error]).toEqual([url, "address_blocked"]);
    }
    const address = addresses[index] ?? "";
    resolved = [{ address, family: address.includes(":") ? 6 : 4 }];
    const named = await guarded.sendOnce(requestTo(`https://receiver.test:${port}/`));
    expect([address, named.error]).toEqual([address, "address_blocked"]);
  }
  resolved = [{ address: "fe80::1%lo", family: 6 }];
  expect((await guarded.sendOnce(requestTo(`https://receiver.test:${port}/`))).error).toBe("address_blocked");
  expect([reached, listener.connections()]).toEqual([0, 0]);
});

test("an answer of DNS that changes between look-ups leads nowhere", async () => {
  const listener = owner.own(await startListener((socket) => socket.destroy()));
  let asked = 0;
  // Nobody answers at the first, which is public; the second is inside.
  const changing: Lookup = async () => [
    asked++ % 2 === 0 ? { address: "192.5.5.241", family: 4 } : { address: "127.0.0.1", family: 4 },
  ];
  const guarded = makeSender({ lookup: changing, attemptTimeoutMs: 400 });
  const request = requestTo(`https://receiver.test:${listener.port}/`);
  const errors = [await guarded.sendOnce(request), await guarded.sendOnce(request)].map(({ error }) => error);
  expect(errors[0]).toMatch(/^(timeout|connection_refused)$/);
  expect(errors[1]).toBe("address_blocked");
  // Once for each connection.
  expect([asked, listener.connections()]).toEqual([2, 0]);
});

test("a redirect to the inside is not followed, and a name without an address is said to have none", async () => {
  const listener = owner.own(await startListener((socket) => socket.destroy()));
  const receiver = owner.own(
    await startReceiver(authority, reply(302, { location: `http://127.0.0.1:${listener.port}/` })),
  );
  expect(await sender.sendOnce(requestTo(receiver.url))).toMatchObject({ status: 302, error: "http_status" });
  expect(listener.connections()).toBe(0);
  for (const lookup of [async () => [], () => Promise.reject(new Error("NXDOMAIN"))] satisfies Lookup[]) {
    expect((await makeSender({ lookup }).sendOnce(requestTo("https://receiver.test/"))).error).toBe("dns_error");
  }
  const never: Lookup = () => new Promise(() => undefined);
  expect((await makeSender({ lookup: never }).sendOnce(requestTo("https://receiver.test/"))).error).toBe("timeout");
});

test("http goes to the networks that are allowed, and by no name", async () => {
  const listener = owner.own(await startListener((socket) => socket.end(`${ok}Content-Length: 0\r\n\r\n`)));
  expect(await sender.sendOnce(requestTo(`http://127.0.0.1:${listener.port}/`))).toMatchObject({ status: 200 });
  const elsewhere = makeSender({ allowed: ["10.0.0.0/8"] });
  expect(await elsewhere.sendOnce(requestTo(`http://127.0.0.1:${listener.port}/`))).toMatchObject({
    error: "address_blocked",
  });
  expect(listener.connections()).toBe(1);
});

test("a socket to an address inside is refused by its block list too", async () => {
  // What is checked and what is connected to would have to differ, so it is asked for itself.
  const { blockLists, reachOf } = createNetworks([]);
  const addresses = inside.map((host) => new URL(`https://${host}/`).hostname.replaceAll(/[[\]]/g, ""));
  for (const address of addresses) {
    const blockList = address.includes(":") ? blockLists.ipv6 : blockLists.ipv4;
    const [error] = (await once(connect({ host: address, port: 1, blockList }), "error")) as [{ code: string }];
    expect([address, error.code]).toEqual([address, "ERR_IP_BLOCKED"]);
  }
  for (const address of ["1.1.1.1", "93.184.216.34", "126.255.255.255", "223.255.255.255", "2606:4700::1111"]) {
    expect([address, reachOf(address)]).toEqual([address, "public"]);
  }
});
