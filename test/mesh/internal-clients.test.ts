/** Programs of other teams that call RPCs directly, with tokens of their own. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect as connectHttp2, constants } from "node:http2";
import { promisify } from "node:util";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client as GrpcClient, credentials, Metadata, status as grpcStatus, type ServiceError } from "@grpc/grpc-js";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { HealthService } from "#proto/daybook/common/v1/health_pb.ts";
import { EventService, ListEventsRequestSchema, ListEventsResponseSchema } from "#proto/daybook/event/v1/event_pb.ts";
import { ClientService } from "#proto/daybook/identity/v1/clients_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { callOf } from "#shared/rpc/interceptors.ts";
import { createRegistry, serveRpc } from "#shared/rpc/server.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import { newClientToken } from "#shared/values/client-token.ts";
import { connectToMesh, testCall, type TestProperty } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

const owner = new Owner();
const daybook = connectToMesh();
const { eventUrl, identityUrl, metricUrl, profileUrl, internalToken } = inject("mesh");
const { internalClients } = daybook.clients;
const listEvents = `${EventService.typeName}/ListEvents`;
let api: TestProperty;
let counter = 0;

beforeAll(async () => {
  api = await daybook.newProperty();
  await api.post("/v1/events", { type: "client.event", identifier: { type: "card", value: "1" }, properties: {} });
});
afterAll(() => owner.close());

async function newClient(methods: string[]): Promise<{ id: string; name: string; token: string }> {
  const { client, token } = await internalClients.createClient({ name: `team-${process.pid}-${++counter}`, methods });
  return { id: client?.id ?? "", name: client?.name ?? "", token };
}

const eventsOf = (token: string) => createClient(EventService, http2Transport(eventUrl, token));
const list = () => ({ propertyId: api.propertyId, limit: 10 });

/** The code and the message of a refusal. */
async function refusalOf(call: Promise<unknown>): Promise<[Code, string]> {
  const error = await call.then(
    () => new Error("it was admitted"),
    (failure: unknown) => failure,
  );
  if (!(error instanceof ConnectError)) throw error;
  return [error.code, error.rawMessage];
}

test("a client calls what it was given, of every service, and nothing else", async () => {
  const methods = [listEvents, `${ProfileService.typeName}/ListMerges`, `${MetricService.typeName}/ListMetrics`];
  const { token, name } = await newClient(methods);
  const { events } = await eventsOf(token).listEvents(list());
  expect(events.map(({ type }) => type)).toEqual(["client.event"]);
  await createClient(MetricService, http2Transport(metricUrl, token)).listMetrics(list());
  const record = eventsOf(token).recordEvents({ propertyId: api.propertyId, events: [] });
  const denied = `the client ${name} may not call ${EventService.typeName}/RecordEvents`;
  expect(await refusalOf(record)).toEqual([Code.PermissionDenied, denied]);
  const profiles = createClient(ProfileService, http2Transport(profileUrl, token));
  expect((await refusalOf(profiles.getProfiles({})))[0]).toBe(Code.PermissionDenied);
  expect((await refusalOf(createClient(HealthService, http2Transport(eventUrl, token)).checkHealth({})))[0]).toBe(
    Code.PermissionDenied,
  );
});

test("a wildcard gives no method that manages properties, keys, clients and members; their names give them", async () => {
  const wide = await newClient([`${IdentityService.typeName}/*`]);
  const identity = createClient(IdentityService, http2Transport(identityUrl, wide.token));
  // The answer of the method itself.
  expect((await refusalOf(identity.leaseRequests({})))[0]).toBe(Code.InvalidArgument);
  const refusals = await Promise.all(
    [
      identity.createKey({}),
      identity.listProperties({ limit: 1 }),
      identity.getKey({}),
      identity.createProperty({ name: "x", mode: 1 }),
      createClient(ClientService, http2Transport(identityUrl, wide.token)).createClient({}),
      createClient(MemberService, http2Transport(identityUrl, wide.token)).inviteMember({}),
    ].map(refusalOf),
  );
  expect(refusals.map(([code]) => code)).toEqual(refusals.map(() => Code.PermissionDenied));
  const named = await newClient([
    `${IdentityService.typeName}/ListProperties`,
    `${ClientService.typeName}/ListClients`,
  ]);
  const transport = http2Transport(identityUrl, named.token);
  await createClient(IdentityService, transport).listProperties({ limit: 1 });
  const { clients } = await createClient(ClientService, transport).listClients({ limit: 500 });
  expect(clients.map(({ name }) => name)).toContain(named.name);
});

test("a client may call what it was given anew, and nothing at all once it is revoked, 5 seconds later", async () => {
  const { id, token } = await newClient([listEvents]);
  const [changing, revoked] = [eventsOf(token), eventsOf(token)];
  await changing.listEvents(list());
  await internalClients.updateClient({ clientId: id, methods: [`${EventService.typeName}/GetEvents`] });
  const startMs = performance.now();
  await eventually(async () =>
    (await refusalOf(changing.listEvents(list())))[0] === Code.PermissionDenied ? true : undefined,
  );
  await internalClients.updateClient({ clientId: id, methods: [listEvents] });
  await eventually(() => revoked.listEvents(list()));
  const { client } = await internalClients.revokeClient({ clientId: id });
  expect(client?.revokedAt).toBeDefined();
  await eventually(async () =>
    (await refusalOf(revoked.listEvents(list())))[0] === Code.Unauthenticated ? true : undefined,
  );
  // Three times 5 s, and time for a busy machine.
  expect(performance.now() - startMs).toBeLessThan(25_000);
  await expect(internalClients.updateClient({ clientId: id, methods: [listEvents] })).rejects.toThrow("no such client");
  // Its name is free again.
  await internalClients.createClient({ name: client?.name ?? "", methods: [listEvents] });
  expect((await internalClients.revokeClient({ clientId: id })).client?.revokedAt).toEqual(client?.revokedAt);
});

test("what is almost a token opens nothing", async () => {
  const { token } = await newClient([listEvents]);
  const wrong = [
    newClientToken(),
    token.slice(0, -1),
    `${token}a`,
    token.toUpperCase(),
    token.slice(3),
    ` ${token}`,
    "ic_",
    `ic_${"a".repeat(10_000)}`,
    `${token},${token}`,
  ];
  for (const guess of wrong) {
    expect([guess, (await refusalOf(eventsOf(guess).listEvents(list())))[0]]).toEqual([guess, Code.Unauthenticated]);
  }
  await eventsOf(token).listEvents(list());
});

test("no spelling of a path opens a method that was not given", async () => {
  const { token } = await newClient([listEvents]);
  const session = connectHttp2(eventUrl);
  owner.defer(async () => session.destroy());
  const post = async (path: string): Promise<number> => {
    const authorization = `Bearer ${token}`;
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/json",
      authorization,
    });
    stream.on("error", () => undefined).end(JSON.stringify({ propertyId: api.propertyId, limit: 1 }));
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    stream.close();
    return Number(headers[constants.HTTP2_HEADER_STATUS]);
  };
  expect(await post(`/${listEvents}`)).toBe(200);
  // The same method, and still the client's own.
  expect(await post(`/${listEvents.replace("L", "%4c")}`)).toBe(200);
  const record = `/${EventService.typeName}/RecordEvents`;
  const tricks = [
    record,
    record.replace("R", "%52"),
    `${record}?x=/${listEvents}`,
    `${record}#/${listEvents}`,
    `/${listEvents}/../RecordEvents`,
    `/${listEvents};/RecordEvents`,
    `//${EventService.typeName}/RecordEvents`,
    `${record}/`,
    record.toLowerCase(),
    `/${EventService.typeName}/*`,
    "/",
  ];
  for (const path of tricks) expect([path, await post(path)]).toEqual([path, 403]);
});

test("methods that no service has are refused, each with its place", async () => {
  const name = "bad-methods";
  const bad = [
    listEvents.toLowerCase(),
    "EventService/ListEvents",
    `/${listEvents}`,
    `${EventService.typeName}/List*`,
    `${EventService.typeName}/`,
    "*",
    "*/*",
    `${ClientService.typeName}/*`,
    `${MemberService.typeName}/*`,
    "x".repeat(100_000),
  ];
  const error = await internalClients.createClient({ name, methods: [listEvents, ...bad] }).catch((e: unknown) => e);
  const params = (error as { errors: { param: string }[] }).errors.map(({ param }) => param);
  expect(params).toEqual(bad.map((_, index) => `methods[${index + 1}]`));
  expect(JSON.stringify(error).length).toBeLessThan(10_000);
  for (const methods of [[], Array.from({ length: 101 }, () => listEvents)]) {
    await expect(internalClients.createClient({ name, methods })).rejects.toThrow("1 to 100 methods");
  }
  for (const other of ["", "Team", "-a", "a b", "a".repeat(49), "a\n"]) {
    await expect(internalClients.createClient({ name: other, methods: [listEvents] })).rejects.toThrow("name");
  }
  const { name: taken } = await newClient([listEvents]);
  await expect(internalClients.createClient({ name: taken, methods: [listEvents] })).rejects.toThrow(taken);
});

test("metrics and handlers know a client by its name, whatever it says that it is", async () => {
  let caller = "";
  const registry = createRegistry();
  const method = `${HealthService.typeName}/CheckHealth`;
  let isAway = false;
  let asked = 0;
  const server = owner.own(
    await serveRpc({
      routes: (router) => {
        router.service(HealthService, {
          checkHealth(_request, context) {
            ({ caller } = callOf(context));
            return {};
          },
        });
      },
      credentials: [internalToken],
      async findClient() {
        asked++;
        if (isAway) throw new Error("identity is away");
        return { name: "reporting", methods: [method] };
      },
      host: "127.0.0.1",
      port: 0,
      log: createLog("test", "silent"),
      registry,
    }),
  );
  const health = (token: string) => createClient(HealthService, http2Transport(server.address, token));
  const token = newClientToken();
  await Promise.all(Array.from({ length: 50 }, () => health(token).checkHealth({}, testCall)));
  expect(caller).toBe("client:reporting");
  expect(asked).toBe(1);
  const metrics = await registry.metrics();
  expect(metrics).toContain(
    `daybook_rpc_client_calls_total{client="reporting",method="${method}",outcome="admitted"} 50`,
  );
  // Who is known goes on; who is not cannot be told from a stranger, and may try again.
  isAway = true;
  await health(token).checkHealth({});
  expect(await refusalOf(health(newClientToken()).checkHealth({}))).toEqual([
    Code.Unavailable,
    "the token cannot be checked now; try again",
  ]);
  await health(internalToken).checkHealth({});
});

test("a gRPC client calls the same port, and is told why it is refused", async () => {
  const { token, name } = await newClient([listEvents]);
  const client = new GrpcClient(new URL(eventUrl).host, credentials.createInsecure());
  owner.defer(async () => client.close());
  const call = (secret: string, method: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const metadata = new Metadata();
      metadata.set("authorization", `Bearer ${secret}`);
      client.makeUnaryRequest(
        `/${method}`,
        (request) => Buffer.from(toBinary(ListEventsRequestSchema, request)),
        (bytes) => fromBinary(ListEventsResponseSchema, bytes),
        create(ListEventsRequestSchema, list()),
        metadata,
        { deadline: Date.now() + 10_000 },
        (error, answer) => (error ? reject(error) : resolve(answer)),
      );
    });
  expect(await call(token, listEvents)).toMatchObject({ events: [{ type: "client.event" }] });
  const refuse = async (secret: string, method: string): Promise<[number, string]> => {
    const error = (await call(secret, method).catch((failure: unknown) => failure)) as ServiceError;
    return [error.code, error.details];
  };
  const record = `${EventService.typeName}/RecordEvents`;
  expect(await refuse(token, record)).toEqual([
    grpcStatus.PERMISSION_DENIED,
    `the client ${name} may not call ${record}`,
  ]);
  expect((await refuse(newClientToken(), listEvents))[0]).toBe(grpcStatus.UNAUTHENTICATED);
  const transport = createGrpcTransport({ baseUrl: eventUrl });
  expect((await refusalOf(createClient(EventService, transport).listEvents(list())))[0]).toBe(Code.Unauthenticated);
});

test("the examples of the page about internal clients run as they are", async () => {
  const page = await readFile("docs/internal-clients.md", "utf8");
  const examples = page.slice(page.indexOf("## Examples"), page.indexOf("## The contracts"));
  const blocks = [...examples.matchAll(/```(ts|sh)\n([\s\S]*?)```/g)].map(([, kind, text = ""]) => ({ kind, text }));
  expect(blocks.map(({ kind }) => kind)).toEqual(["ts", "ts", "sh"]);
  const { token } = await newClient([listEvents]);
  const env = { ...process.env, EVENT_ADDRESS: eventUrl, CLIENT_TOKEN: token, PROPERTY_ID: api.propertyId };
  for (const { kind, text } of blocks) {
    const [program, words] =
      kind === "ts"
        ? [process.execPath, ["--input-type=module-typescript", "--eval", text]]
        : ["sh", ["-c", text.replace("npx buf", "node_modules/.bin/buf")]];
    const { stdout } = await promisify(execFile)(program, words, { env });
    expect(stdout).toContain("client.event");
  }
});
