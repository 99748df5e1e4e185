/** What happens becomes messages: once, for whoever wants them, and nothing of a person is left after a redaction. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EventsLinkedSchema } from "#proto/daybook/event/v1/event_pb.ts";
import { RejectedWritesReportedSchema } from "#proto/daybook/event/v1/rejected_pb.ts";
import { MetricsCreatedSchema } from "#proto/daybook/metric/v1/metric_pb.ts";
import {
  PrivacyRequestSettledSchema,
  PrivacyRequestStatus,
  PrivacyRequestType,
} from "#proto/daybook/profile/v1/privacy_pb.ts";
import {
  DeliveryStatus,
  EndpointStatus,
  ReplayChoice,
  ReplayStatus,
  type CreateEndpointRequestSchema,
  type CreateReplayRequestSchema,
  type WebhookService,
} from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { connectNatsBus } from "#shared/bus/nats/bus.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { bindable, type BoundClient } from "#shared/rpc/clients.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { decodeId, newId, newUuid } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { webhookTypes } from "#shared/values/webhook-types.ts";
import { faultsOf } from "../support/app-identity.ts";
import { startSingleProcess, testCall, testSigner, type SingleProcess, type TestProperty } from "../support/daybook.ts";
import { startNats, type NatsServer } from "../support/nats.ts";
import { newProfile } from "../support/people.ts";
import { askPrivacy, untilEnded } from "../support/privacy.ts";
import { eventually } from "../support/processes.ts";
import { createAuthority, startReceiver, trust, type Receiver } from "../support/receivers.ts";

const log = createLog("test", "silent");
const owner = new Owner();
let nats: NatsServer;
let bus: Awaited<ReturnType<typeof connectNatsBus>>;
let daybook: SingleProcess;
let webhooks: BoundClient<Client<typeof WebhookService>>;
let database: pg.Client;
let receiver: Receiver;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-webhooks-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  nats = owner.own(await startNats(folder));
  const authority = await createAuthority();
  trust(authority, owner);
  receiver = owner.own(await startReceiver(authority));
  const webhook = { allowedNetworks: ["127.0.0.0/8"] };
  const profile = { redactionSweepSeconds: 1 };
  daybook = await startSingleProcess(owner, { nats: { servers: [nats.url] }, log, webhook, profile });
  webhooks = bindable(daybook.clients.webhooks)(testCall);
  bus = owner.own(
    await connectNatsBus({ servers: [nats.url], signer: testSigner, name: "other", log, registry: createRegistry() }),
  );
  database = new pg.Client({ connectionString: daybook.databaseUrl });
  await database.connect();
  owner.defer(() => database.end());
});
afterAll(() => owner.close());

async function makeEndpoint(
  { propertyId }: Pick<TestProperty, "propertyId">,
  fields: MessageInitShape<typeof CreateEndpointRequestSchema> = {},
): Promise<string> {
  const usual = { url: receiver.url, types: ["*"], revision: "2026-11-01", createdBy: "operator" };
  const { endpoint } = await webhooks.createEndpoint({ propertyId, ...usual, ...fields });
  return endpoint?.id ?? "";
}

interface Made {
  id: string;
  messageId: string;
  status: DeliveryStatus;
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

/** All deliveries to an endpoint, with their bodies, the oldest last. */
async function deliveriesOf(propertyId: string, endpointId: string): Promise<Made[]> {
  const { deliveries } = await webhooks.listDeliveries({ propertyId, endpointId, limit: 500 });
  return Promise.all(
    deliveries.map(async ({ id, messageId, status }) => {
      const { delivery } = await webhooks.getDelivery({ propertyId, deliveryId: id });
      const text = delivery?.payloadJson;
      return { id, messageId, status, body: text === undefined ? undefined : JSON.parse(text) };
    }),
  );
}

/** Waits until as many deliveries are there. */
function untilMade(propertyId: string, endpointId: string, count: number): Promise<Made[]> {
  let last: Made[] = [];
  return eventually(
    async () => {
      last = await deliveriesOf(propertyId, endpointId);
      return last.length >= count ? last : undefined;
    },
    { explain: () => `${count} deliveries; there are ${JSON.stringify(last.map(({ body }) => body?.type))}` },
  );
}

const reportedSubject = "daybook.event.rejected_writes_reported";

/** A report of refused writes, as the event service tells it. */
function reportOf(propertyId: string, eventType?: string): Uint8Array {
  const at = toTimestamp(Date.now() * 1000);
  const group = { operation: "events.create", code: "parameter_invalid", keyId: newId("key"), count: 2n };
  return toBinary(
    RejectedWritesReportedSchema,
    create(RejectedWritesReportedSchema, {
      reportId: newUuid(),
      propertyId,
      from: at,
      to: at,
      count: 2n,
      groups: [{ ...group, ...(eventType !== undefined && { eventType }), firstAt: at, lastAt: at }],
    }),
  );
}

const order = { type: "order.completed", properties: { order_id: "1001" }, value: "49.90", currency: "EUR" };

describe("messages", () => {
  test("tell of ordinary events to the endpoints that want them, as GET shows the event", async () => {
    const [api, other] = [await daybook.newProperty(), await daybook.newProperty()];
    const { propertyId } = api;
    const all = await makeEndpoint(api, { types: ["event.recorded"] });
    const some = await makeEndpoint(api, {
      types: ["event.recorded"],
      filter: { eventTypes: ["cart.*", "order.completed"], sources: ["api"] },
    });
    const none = await makeEndpoint(api, { types: ["event.recorded"], filter: { eventTypes: ["order"] } });
    const disabled = await makeEndpoint(api, { disabled: true });
    const ofOther = await makeEndpoint(other, { types: ["event.recorded"] });
    const person = await newProfile(api, { identifiers: [{ type: "customer", value: "c-1" }] });
    const events = [
      { ...order, profile_id: person.id },
      { ...order, type: "cart.item.added", profile_id: person.id },
      { ...order, type: "carts.seen", profile_id: person.id },
      { type: "order.completed", profile_id: person.id, properties: { text: "x".repeat(70_000) } },
    ];
    const { body: batch } = await api.post("/v1/events/batch", { events });
    expect(batch.data.counts.succeeded).toBe(4);
    await api.post("/v1/events/batch", { events: [{ ...order, profile_id: person.id }], backfill: true });
    const ids: string[] = batch.data.results.map((result: { data: { id: string } }) => result.data.id);
    const got = await untilMade(propertyId, all, 4);
    expect(new Set(got.map(({ body }) => body.data.id as string))).toEqual(new Set(ids));
    const { body: shown } = await api.get(`/v1/events/${ids[0]}`);
    const first = got.find(({ body }) => body.data.id === ids[0]);
    expect(first?.body).toEqual({
      id: first?.messageId,
      object: "webhook_message",
      type: "event.recorded",
      timestamp: shown.data.received_at,
      livemode: false,
      property_id: propertyId,
      revision: "2026-11-01",
      data: shown.data,
    });
    const large = got.find(({ body }) => body.data.id === ids[3]);
    expect(large?.body.omitted).toEqual(["properties"]);
    expect(large?.body.data).not.toHaveProperty("properties");
    expect(large?.body.data).toMatchObject({ type: "order.completed", profile_id: person.id });
    const filtered = await untilMade(propertyId, some, 3);
    expect(filtered).toHaveLength(3);
    expect(new Set(filtered.map(({ body }) => body.data.id as string))).toEqual(new Set([ids[0], ids[1], ids[3]]));
    expect(filtered.find(({ body }) => body.data.id === ids[0])?.messageId).toBe(first?.messageId);
    for (const id of [none, disabled]) expect(await deliveriesOf(propertyId, id)).toEqual([]);
    expect(await deliveriesOf(other.propertyId, ofOther)).toEqual([]);
  });

  test("tell of profiles by their ids alone, and of anonymous events that gain a profile", async () => {
    const api = await daybook.newProperty();
    const { propertyId } = api;
    const endpoint = await makeEndpoint(api, { types: ["profile.created", "profile.merged", "profile.redacted"] });
    const [one, two] = [await newProfile(api), await newProfile(api)];
    await daybook.clients.profiles.mergeProfiles({ propertyId, profileId: one.id, sourceProfileId: two.id }, testCall);
    await daybook.clients.profiles.redactProfile({ propertyId, profileId: one.id }, testCall);
    const got = await untilMade(propertyId, endpoint, 4);
    const data = (type: string) => got.filter(({ body }) => body?.type === type).map(({ body }) => body.data);
    // The created ones were emptied with the redaction, unless it came first.
    expect(data("profile.redacted")).toEqual([{ profile_id: one.id, version: expect.any(Number) }]);
    await eventually(async () => {
      const left = (await deliveriesOf(propertyId, endpoint)).filter(({ body }) => body !== undefined);
      return left.length === 1 && left[0]?.body.type === "profile.redacted" ? true : undefined;
    });
  });

  test("of every type are made once, however often the bus brings what they tell of, and are as their schema says", async () => {
    const api = await daybook.newProperty();
    const { propertyId } = api;
    const endpoint = await makeEndpoint(api);
    const at = toTimestamp(Date.now() * 1000);
    const settled = (status: PrivacyRequestStatus) =>
      toBinary(
        PrivacyRequestSettledSchema,
        create(PrivacyRequestSettledSchema, {
          changeId: newUuid(),
          request: {
            id: newId("priv"),
            propertyId,
            type: PrivacyRequestType.ERASURE,
            status,
            profileIds: [newId("prof")],
            submittedAt: at,
            dueAt: at,
            createdAt: at,
            updatedAt: at,
            completedAt: at,
            createdBy: "operator",
          },
        }),
      );
    const metric = { id: newId("mtr"), name: "a.b", createdAt: at, firstSeenAt: at };
    const schema = Array.from({ length: 500 }, (_, index) => ({ path: `${"x".repeat(200)}${index}`, type: 1 }));
    const wide = { ...metric, id: newId("mtr"), name: "b.c", schema };
    const linked = { type: "c.d", occurredAt: at, source: "api", eventId: newId("evt") };
    const messages: [string, Uint8Array][] = [
      [
        "daybook.metric.created",
        toBinary(MetricsCreatedSchema, create(MetricsCreatedSchema, { propertyId, metrics: [metric, wide] })),
      ],
      [
        "daybook.event.linked",
        toBinary(
          EventsLinkedSchema,
          create(EventsLinkedSchema, { propertyId, profileId: newId("prof"), events: [linked] }),
        ),
      ],
      ["daybook.profile.privacy_settled", settled(PrivacyRequestStatus.COMPLETED)],
      ["daybook.profile.privacy_settled", settled(PrivacyRequestStatus.FAILED)],
      ["daybook.profile.privacy_settled", settled(PrivacyRequestStatus.CANCELLED)],
      [reportedSubject, reportOf(propertyId)],
    ];
    for (let round = 0; round < 3; round++) {
      await bus.publish(messages.map(([subject, payload]) => ({ id: newUuid(), subject, payload })));
    }
    const person = await newProfile(api);
    await api.post("/v1/events", { ...order, profile_id: person.id });
    const watched = await makeEndpoint(api, { types: ["webhook.test"] });
    await webhooks.updateEndpoint({ propertyId, endpointId: watched, status: EndpointStatus.DISABLED });
    const wanted = [
      "event.linked",
      "event.recorded",
      "metric.created",
      "metric.created",
      "privacy_request.completed",
      "privacy_request.failed",
      "profile.created",
      "rejected_writes.reported",
      "webhook_endpoint.disabled",
    ];
    // Metrics of real events may be told as well.
    const isReal = ({ body }: Made): boolean =>
      body.type === "metric.created" && !["a.b", "b.c"].includes(body.data.name);
    const made = await eventually(async () => {
      const found = (await deliveriesOf(propertyId, endpoint)).filter((one) => !isReal(one));
      return found.length >= wanted.length ? found : undefined;
    });
    expect(made.map(({ body }) => String(body.type)).toSorted()).toEqual(wanted);
    expect(made.find(({ body }) => body.data.name === "b.c")?.body.omitted).toEqual(["schema"]);
    for (const { body } of made) {
      const { schema: said } = webhookTypes.find(({ name }) => name === body.type) ?? {};
      const { required } = said as { required: string[] };
      const missing = required.filter((name) => !(name in body.data));
      expect([body.type, missing]).toEqual([body.type, []]);
    }
  });
});

describe("a redaction", () => {
  test("leaves nothing of the person in messages and answers, and sends nothing that waits", async () => {
    const api = await daybook.newProperty();
    const { propertyId } = api;
    const word = "lovelace1815";
    receiver.answer((response, { body }) => void response.writeHead(500).end(`what is this? ${body}`));
    const endpoint = await makeEndpoint(api, { types: ["event.recorded", "event.linked"] });
    const anonymous = { ...order, identifier: { type: "cookie", value: "k-1" }, properties: { word } };
    await api.post("/v1/events", anonymous);
    const person = await newProfile(api, { identifiers: [{ type: "customer", value: word }] });
    const [merged, stays] = [await newProfile(api), await newProfile(api)];
    for (const { id } of [person, merged])
      await api.post("/v1/events", { ...order, profile_id: id, properties: { word } });
    await api.post("/v1/events", { ...order, profile_id: stays.id });
    await untilMade(propertyId, endpoint, 4);
    await daybook.clients.profiles.mergeProfiles(
      { propertyId, profileId: person.id, sourceProfileId: merged.id },
      testCall,
    );
    await daybook.clients.profiles.addIdentifier(
      { propertyId, profileId: person.id, identifier: { type: "cookie", value: "k-1" } },
      testCall,
    );
    const bodies = "SELECT count(*)::integer AS count FROM webhook.messages m WHERE m::text LIKE '%' || $1 || '%'";
    const answers = "SELECT count(*)::integer AS count FROM webhook.deliveries d WHERE d::text LIKE '%' || $1 || '%'";
    const countOf = async (text: string) => (await database.query<{ count: number }>(text, [word])).rows[0]?.count;
    expect(await countOf(bodies)).toBe(3);
    await daybook.clients.profiles.redactProfile({ propertyId, profileId: person.id }, testCall);
    await eventually(async () => ((await countOf(bodies)) === 0 && (await countOf(answers)) === 0 ? true : undefined));
    const after = await deliveriesOf(propertyId, endpoint);
    expect(after.filter(({ body }) => body?.type === "event.recorded").map(({ body }) => body.data.profile_id)).toEqual(
      [stays.id],
    );
    const emptied = after.filter(({ body }) => body === undefined);
    expect(emptied.map(({ status }) => status)).toEqual(emptied.map(() => DeliveryStatus.CANCELLED));
    const [one] = emptied;
    const retry = webhooks.retryDelivery({ propertyId, deliveryId: one?.id ?? "" });
    expect(await faultsOf(retry)).toEqual({ delivery_id: "invalid_state_transition" });
    receiver.answer((response) => void response.writeHead(204).end());
  });
});

test("an erasure reaches reports of refused writes that name the person, and no others", async () => {
  const api = await daybook.newProperty();
  const { propertyId } = api;
  const word = "lovelace1816";
  const endpoint = await makeEndpoint(api, { types: ["rejected_writes.reported"] });
  for (const type of ["order.placed", `shop.${word}`]) {
    await bus.publish([{ id: newUuid(), subject: reportedSubject, payload: reportOf(propertyId, type) }]);
  }
  await untilMade(propertyId, endpoint, 2);
  const identifiers = [{ type: "customer", value: word }];
  await untilEnded(daybook, propertyId, await askPrivacy(api, { type: "erasure", identifiers }));
  const left = (await deliveriesOf(propertyId, endpoint)).flatMap(({ body }) => body?.data.groups ?? []);
  expect(left.map((group: { event_type: string }) => group.event_type)).toEqual(["order.placed"]);
});

describe("a replay", () => {
  const replayOf = async (fields: MessageInitShape<typeof CreateReplayRequestSchema>) => {
    const span = { from: toTimestamp((Date.now() - 600_000) * 1000), to: toTimestamp(Date.now() * 1000) };
    return (await webhooks.createReplay({ only: ReplayChoice.ALL, ...span, ...fields })).replay;
  };
  const untilComplete = (propertyId: string, id: string) =>
    eventually(async () => {
      const { endpoints } = await webhooks.describeEndpoints({ propertyId });
      if (endpoints.some(({ replay }) => replay?.id === id)) return undefined;
      const found = "SELECT status, deliveries FROM webhook.replays WHERE id = $1 AND status <> 'processing'";
      const { rows } = await database.query<{ status: string; deliveries: number }>(found, [decodeId("rpl", id, "id")]);
      return rows[0];
    });

  test("sends what came before the endpoint was there, once if it failed, and again if all is wanted", async () => {
    const api = await daybook.newProperty();
    const { propertyId } = api;
    const person = await newProfile(api);
    const events = Array.from({ length: 30 }, (_, index) => ({
      ...order,
      profile_id: person.id,
      properties: { index },
    }));
    await api.post("/v1/events/batch", { events });
    // A replay is of what is stored, and a profile's event comes later.
    await eventually(
      async () => (await api.get("/v1/events?filter[source]=system&filter[type]=profile.created")).body.data[0],
    );
    const types = ["event.recorded", "profile.created"];
    const endpointId = await makeEndpoint(api, { types });
    const operationId = newId("op");
    const asked = { propertyId, endpointId, only: ReplayChoice.FAILED, operationId };
    const [replay, again] = [await replayOf(asked), await replayOf(asked)];
    expect(replay).toMatchObject({ status: ReplayStatus.PROCESSING, types, only: ReplayChoice.FAILED });
    expect(again?.id).toBe(replay?.id);
    await untilComplete(propertyId, replay?.id ?? "");
    const got = await deliveriesOf(propertyId, endpointId);
    expect(new Set(got.map(({ messageId }) => messageId)).size).toBe(31);
    expect(got.find(({ body }) => body.type === "profile.created")?.body.data).toEqual({
      profile_id: person.id,
      version: null,
    });
    // Nothing failed since, so nothing is sent.
    const second = await replayOf({ propertyId, endpointId, only: ReplayChoice.FAILED });
    expect(await untilComplete(propertyId, second?.id ?? "")).toMatchObject({ status: "complete", deliveries: "0" });
    const third = await replayOf({ propertyId, endpointId, types: ["profile.created"] });
    expect(await untilComplete(propertyId, third?.id ?? "")).toMatchObject({ status: "complete", deliveries: "1" });
    const all = await deliveriesOf(propertyId, endpointId);
    expect(all).toHaveLength(32);
    expect(new Set(all.map(({ messageId }) => messageId)).size).toBe(31);
  });

  test("is refused for what cannot be sent", async () => {
    const api = await daybook.newProperty();
    const { propertyId } = api;
    const endpointId = await makeEndpoint(api, { types: ["event.recorded"] });
    const now = Date.now() * 1000;
    const refused = async (fields: MessageInitShape<typeof CreateReplayRequestSchema>) =>
      faultsOf(replayOf({ propertyId, endpointId, ...fields }));
    expect(await refused({ only: ReplayChoice.UNSPECIFIED })).toEqual({ only: "parameter_missing" });
    expect(await refused({ to: toTimestamp(now + 60_000_000) })).toEqual({ to: "parameter_invalid" });
    expect(await refused({ from: toTimestamp(now), to: toTimestamp(now - 1) })).toEqual({ from: "parameter_conflict" });
    expect(await refused({ types: ["profile.created"] })).toEqual({ "types.0": "parameter_invalid" });
    expect(await refused({ propertyId: (await daybook.newProperty()).propertyId })).toEqual({
      endpoint_id: "resource_not_found",
    });
    await webhooks.updateEndpoint({ propertyId, endpointId, status: EndpointStatus.DISABLED });
    expect(await refused({})).toEqual({ endpoint_id: "invalid_state_transition" });
  });
});
