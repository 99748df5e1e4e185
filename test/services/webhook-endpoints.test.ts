/** Endpoints of webhooks: what they are, who sees them, how many there are, and their secrets. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  DeliveryStatus,
  DisabledReason,
  EndpointStatus,
  type CreateEndpointRequestSchema,
  type UpdateEndpointRequestSchema,
  type WebhookService,
} from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { bindable, type BoundClient } from "#shared/rpc/clients.ts";
import { newId } from "#shared/values/ids.ts";
import { scopesOfTypes, webhookTypeNames } from "#shared/values/webhook-types.ts";
import { faultsOf, refusalOf } from "../support/app-identity.ts";
import { startSingleProcess, testCall, type SingleProcess, type TestProperty } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

type NewEndpoint = MessageInitShape<typeof CreateEndpointRequestSchema>;
type Change = Omit<MessageInitShape<typeof UpdateEndpointRequestSchema>, "propertyId" | "endpointId" | "$typeName">;

const owner = new Owner();
let daybook: SingleProcess;
let webhooks: BoundClient<Client<typeof WebhookService>>;
let api: TestProperty;
let propertyId: string;
let database: pg.Client;

beforeAll(async () => {
  daybook = await startSingleProcess(owner);
  webhooks = bindable(daybook.clients.webhooks)(testCall);
  api = await daybook.newProperty();
  ({ propertyId } = api);
  database = new pg.Client({ connectionString: daybook.databaseUrl });
  await database.connect();
  owner.defer(() => database.end());
});
afterAll(() => owner.close());

const good = {
  url: "https://shop.example.com/hooks?a=b",
  description: "Orders",
  types: ["event.recorded"],
  revision: "2026-11-01",
  createdBy: "operator",
};

async function make(fields: NewEndpoint = {}) {
  const { endpoint, secret } = await webhooks.createEndpoint({ propertyId, ...good, ...fields });
  if (!endpoint) throw new Error("no endpoint was made");
  return { endpoint, secret, endpointId: endpoint.id, propertyId: endpoint.propertyId };
}

async function remove(made: { endpointId: string; propertyId: string }): Promise<void> {
  await webhooks.deleteEndpoint({ propertyId: made.propertyId, endpointId: made.endpointId });
}

describe("an endpoint", () => {
  test("is what was said of it, with a secret that is shown once, and header values that never are", async () => {
    const made = await make({
      types: ["event.recorded", "profile.merged", "event.recorded"],
      filter: { eventTypes: ["order_completed", "cart.*", "cart.*"], sources: ["api"] },
      headers: [{ name: "X-Shop", value: "a secret word" }],
      rateLimitPerSecond: 10,
    });
    const { endpoint, secret } = made;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(endpoint).toMatchObject({
      id: expect.stringMatching(/^hook_/),
      propertyId,
      url: good.url,
      description: "Orders",
      types: ["event.recorded", "profile.merged"],
      filter: { eventTypes: ["order.completed", "cart.*"], sources: ["api"] },
      headerNames: ["x-shop"],
      rateLimitPerSecond: 10,
      status: EndpointStatus.ENABLED,
      disabledReason: DisabledReason.UNSPECIFIED,
      revision: "2026-11-01",
      createdBy: "operator",
    });
    const { endpoint: read } = await webhooks.getEndpoint({ propertyId, endpointId: endpoint.id.toUpperCase() });
    expect(read).toEqual(endpoint);
    const { rows } = await database.query("SELECT e::text AS text FROM webhook.endpoints e");
    const stored = JSON.stringify(rows);
    for (const hidden of ["a secret word", secret.slice(6), Buffer.from(secret.slice(6), "base64").toString("hex")]) {
      expect(stored).not.toContain(hidden);
    }
    await remove(made);
    expect((await refusalOf(webhooks.getEndpoint({ propertyId, endpointId: endpoint.id }))).code).toBe(
      "resource_not_found",
    );
    await remove(made);
  });

  const [invalid, many] = ["parameter_invalid", "too_many_items"];
  const header = (name: string, value = "a"): NewEndpoint => ({ headers: [{ name, value }] });
  test.each<[string, NewEndpoint, Record<string, string>]>([
    ["http", { url: "http://shop.example.com/" }, { url: "url_not_allowed" }],
    ["a private address", { url: "https://10.0.0.1/" }, { url: "url_not_allowed" }],
    ["a long address", { url: `https://shop.example.com/${"a".repeat(2_048)}` }, { url: "url_not_allowed" }],
    ["no address", { url: "" }, { url: "url_not_allowed" }],
    ["a long description", { description: "x".repeat(256) }, { description: invalid }],
    ["U+0000", { description: "a\0" }, { description: invalid }],
    ["no type", { types: [] }, { types: "parameter_missing" }],
    ["an unknown type", { types: ["event.recorded", "constructor"] }, { "types.1": invalid }],
    ["all types and one", { types: ["*", "event.recorded"] }, { types: "parameter_conflict" }],
    ["51 types", { types: Array.from({ length: 51 }, () => "event.recorded") }, { types: many }],
    ["a filter of no type", { filter: { eventTypes: ["*"] } }, { "filter.event_types.0": "invalid_event_type" }],
    ["a filter within", { filter: { eventTypes: ["a.*.b"] } }, { "filter.event_types.0": "invalid_event_type" }],
    ["51 filters", { filter: { eventTypes: Array(51).fill("a.b") } }, { "filter.event_types": many }],
    ["21 sources", { filter: { sources: Array(21).fill("api") } }, { "filter.sources": many }],
    ["an empty source", { filter: { sources: [""] } }, { "filter.sources.0": invalid }],
    ["11 headers", { headers: Array.from({ length: 11 }, () => ({ name: "x-a", value: "a" })) }, { headers: many }],
    [
      "a header twice",
      {
        headers: [
          { name: "x-a", value: "a" },
          { name: "X-A", value: "b" },
        ],
      },
      { "headers.1.name": invalid },
    ],
    ["a header of HTTP", header("Content-Length"), { "headers.0.name": invalid }],
    ["a header of the protocol", header("webhook-id"), { "headers.0.name": invalid }],
    ["no name", header("a b"), { "headers.0.name": invalid }],
    ["a long name", header("a".repeat(65)), { "headers.0.name": invalid }],
    ["a line break", header("x-a", "a\r\nhost: b"), { "headers.0.value": invalid }],
    ["a long value", header("x-a", "a".repeat(1_025)), { "headers.0.value": invalid }],
    ["no value", header("x-a", ""), { "headers.0.value": invalid }],
    ["no limit", { rateLimitPerSecond: 0 }, { rate_limit_per_second: invalid }],
    ["a high limit", { rateLimitPerSecond: 10_001 }, { rate_limit_per_second: invalid }],
    ["another revision", { revision: "2020-01-01" }, { revision: "invalid_revision" }],
    ["no maker", { createdBy: "" }, { created_by: invalid }],
    ["no operation", { operationId: "x" }, { operation_id: "invalid_id" }],
    ["no property", { propertyId: newId("prop") }, { property_id: "resource_not_found" }],
    [
      "several faults",
      { url: "", types: [], revision: "" },
      { url: "url_not_allowed", types: "parameter_missing", revision: "invalid_revision" },
    ],
  ])("with %s is refused", async (_, fields, faults) => {
    expect(await faultsOf(webhooks.createEndpoint({ propertyId, ...good, ...fields }))).toEqual(faults);
  });

  test("is changed field by field, and keeps what is not named", async () => {
    const made = await make({
      headers: [
        { name: "x-a", value: "1" },
        { name: "x-b", value: "2" },
      ],
      rateLimitPerSecond: 5,
    });
    const change = async (what: Change) =>
      (await webhooks.updateEndpoint({ ...what, propertyId, endpointId: made.endpointId })).endpoint;
    const { updatedAt: _, ...before } = made.endpoint;
    expect(await change({})).toMatchObject(before);
    expect(await change({ types: ["*"], filter: { eventTypes: ["a.b"] } })).toMatchObject({
      types: ["*"],
      filter: { eventTypes: ["a.b"], sources: [] },
      rateLimitPerSecond: 5,
    });
    const cleared = await change({ filter: {}, rateLimitPerSecond: 0, description: "" });
    expect(cleared).toMatchObject({ description: "" });
    expect([cleared?.filter, cleared?.rateLimitPerSecond]).toEqual([undefined, undefined]);
    expect((await change({ headers: { headers: [{ name: "X-B", value: "" }] } }))?.headerNames).toEqual(["x-b"]);
    expect(await faultsOf(change({ headers: { headers: [{ name: "x-a", value: "" }] } }))).toHaveProperty([
      "headers.0.value",
    ]);
    expect(await faultsOf(change({ url: "https://127.0.0.1/" }))).toEqual({ url: "url_not_allowed" });
    const disabled = await change({ status: EndpointStatus.DISABLED });
    expect(disabled).toMatchObject({ status: EndpointStatus.DISABLED, disabledReason: DisabledReason.MANUAL });
    expect(await change({ description: "a" })).toMatchObject({ status: EndpointStatus.DISABLED });
    expect(await change({ status: EndpointStatus.ENABLED })).toMatchObject({
      status: EndpointStatus.ENABLED,
      disabledReason: DisabledReason.UNSPECIFIED,
    });
    await remove(made);
  });

  test("of an operation is made once, however often it is asked for at the same time", async () => {
    const operationId = newId("op");
    const all = await Promise.all(Array.from({ length: 8 }, () => make({ operationId })));
    const [first] = all;
    expect(new Set(all.map(({ endpointId }) => endpointId)).size).toBe(1);
    expect(new Set(all.map(({ secret }) => secret)).size).toBe(1);
    if (first) await remove(first);
  });

  test("has a new secret after a rotation, beside the one before for as long as was asked", async () => {
    const made = await make();
    const rotate = (graceSeconds?: number, operationId?: string) =>
      webhooks.rotateEndpointSecret({
        propertyId,
        endpointId: made.endpointId,
        ...(graceSeconds !== undefined && { graceSeconds }),
        ...(operationId !== undefined && { operationId }),
      });
    const { endpoint, secret } = await rotate();
    expect(secret).not.toBe(made.secret);
    const day = Number(endpoint?.previousSecretUntil?.seconds) - Date.now() / 1000;
    expect(day).toBeGreaterThan(86_300);
    expect(day).toBeLessThan(86_500);
    expect((await rotate(0)).endpoint?.previousSecretUntil).toBeUndefined();
    const operationId = newId("op");
    const [first, second] = [await rotate(60, operationId), await rotate(60, operationId)];
    expect(second).toEqual(first);
    expect(first.secret).not.toBe(secret);
    for (const grace of [-1, 604_801]) expect(await faultsOf(rotate(grace))).toEqual({ grace_seconds: invalid });
    await remove(made);
  });
});

describe("limits", () => {
  test("20 endpoints a property and 5 an installation, when more are made at the same time", async () => {
    const { propertyId: own } = await daybook.newProperty();
    const installation = newId("inst");
    const attempt = (createdBy: string) =>
      make({ propertyId: own, createdBy }).then(
        () => "made",
        (error: unknown) => (error as { code: string }).code,
      );
    const ofOne = await Promise.all(Array.from({ length: 8 }, () => attempt(installation)));
    expect(ofOne.filter((outcome) => outcome === "made")).toHaveLength(5);
    const ofAll = await Promise.all(Array.from({ length: 20 }, () => attempt("operator")));
    expect(ofAll.filter((outcome) => outcome === "made")).toHaveLength(15);
    expect(new Set([...ofOne, ...ofAll])).toEqual(new Set(["made", "too_many_items"]));
  });
});

describe("what callers see", () => {
  test("endpoints all of whose types their scopes allow, an installation its own, and no other property any", async () => {
    const mine = await daybook.newProperty();
    const other = await daybook.newProperty();
    const installationId = newId("inst");
    const ofEvents = await make({ propertyId: mine.propertyId, types: ["event.recorded", "webhook.test"] });
    const ofBoth = await make({ propertyId: mine.propertyId, types: ["event.recorded", "metric.created"] });
    const ofAll = await make({ propertyId: mine.propertyId, types: ["*"], disabled: true });
    const ofApp = await make({ propertyId: mine.propertyId, createdBy: installationId });
    const every = scopesOfTypes(webhookTypeNames);
    const list = async (viewer?: { scopes: string[]; installationId?: string }, property = mine.propertyId) => {
      const { endpoints } = await webhooks.listEndpoints({
        propertyId: property,
        limit: 500,
        ...(viewer && { viewer }),
      });
      return endpoints.map(({ id }) => id);
    };
    const [a, b, c, d] = [ofEvents, ofBoth, ofAll, ofApp].map(({ endpointId }) => endpointId);
    expect(await list()).toEqual([a, b, c, d]);
    expect(await list({ scopes: every })).toEqual([a, b, c, d]);
    expect(await list({ scopes: ["events:read"] })).toEqual([a, d]);
    expect(await list({ scopes: ["events:read", "metrics:read"] })).toEqual([a, b, d]);
    expect(await list({ scopes: [] })).toEqual([]);
    expect(await list({ scopes: every, installationId })).toEqual([d]);
    expect(await list({ scopes: [], installationId })).toEqual([]);
    expect(await list(undefined, other.propertyId)).toEqual([]);
    const pages = await webhooks.listEndpoints({ propertyId: mine.propertyId, limit: 2, afterEndpointId: a ?? "" });
    expect([pages.endpoints.map(({ id }) => id), pages.hasMore]).toEqual([[b, c], true]);
    const disabled = { propertyId: mine.propertyId, limit: 9, status: EndpointStatus.DISABLED };
    expect((await webhooks.listEndpoints(disabled)).endpoints.map(({ id }) => id)).toEqual([c]);

    const blind = { viewer: { scopes: ["metrics:read"] }, propertyId: mine.propertyId, endpointId: a ?? "" };
    const stranger = { propertyId: other.propertyId, endpointId: a ?? "" };
    for (const name of [blind, stranger]) {
      for (const call of ["getEndpoint", "updateEndpoint", "rotateEndpointSecret"] as const) {
        expect(await faultsOf(webhooks[call](name))).toEqual({ endpoint_id: "resource_not_found" });
      }
      await webhooks.deleteEndpoint(name);
    }
    expect(await list()).toHaveLength(4);
  });
});

test("an endpoint ends within 5 seconds of its key, and cannot be enabled again", async () => {
  const mine = await daybook.newProperty();
  const made = await make({ propertyId: mine.propertyId, createdBy: mine.keyId });
  const stays = await make({ propertyId: mine.propertyId, createdBy: newId("mem") });
  const name = { propertyId: mine.propertyId, endpointId: made.endpointId };
  await daybook.clients.identity.revokeKey({ propertyId: mine.propertyId, keyId: mine.keyId }, testCall);
  const ended = await eventually(
    async () => {
      const { endpoint } = await webhooks.getEndpoint(name);
      return endpoint?.status === EndpointStatus.DISABLED ? endpoint : undefined;
    },
    { timeoutMs: 5_000 },
  );
  expect(ended.disabledReason).toBe(DisabledReason.OWNER_ENDED);
  const enabling = webhooks.updateEndpoint({ ...name, status: EndpointStatus.ENABLED });
  expect(await faultsOf(enabling)).toEqual({ status: "invalid_state_transition" });
  const { endpoint } = await webhooks.getEndpoint({ ...name, endpointId: stays.endpointId });
  expect(endpoint?.status).toBe(EndpointStatus.ENABLED);
});

test("the other endpoints of a property are told of one that was disabled, once each time", async () => {
  const mine = await daybook.newProperty();
  const watched = await make({ propertyId: mine.propertyId, types: ["*"] });
  const watcher = await make({ propertyId: mine.propertyId, types: ["webhook_endpoint.disabled"] });
  const name = { propertyId: mine.propertyId, endpointId: watched.endpointId };
  const told = async () => {
    const filter = { propertyId: mine.propertyId, endpointId: watcher.endpointId, limit: 10 };
    return (await webhooks.listDeliveries(filter)).deliveries;
  };
  for (const times of [1, 2]) {
    await webhooks.updateEndpoint({ ...name, status: EndpointStatus.DISABLED });
    await eventually(async () => ((await told()).length === times ? true : undefined));
    await webhooks.updateEndpoint({ ...name, status: EndpointStatus.ENABLED });
  }
  const [delivery] = await told();
  expect(delivery).toMatchObject({ endpointId: watcher.endpointId });
  const { delivery: whole } = await webhooks.getDelivery({
    propertyId: mine.propertyId,
    deliveryId: delivery?.id ?? "",
  });
  expect(JSON.parse(whole?.payloadJson ?? "")).toMatchObject({
    object: "webhook_message",
    type: "webhook_endpoint.disabled",
    livemode: false,
    property_id: mine.propertyId,
    data: { id: watched.endpointId, status: "disabled", disabled_reason: "manual" },
  });
  // It cannot be read by another property, nor by who may not have the type.
  const read = { propertyId: mine.propertyId, deliveryId: delivery?.id ?? "" };
  const viewer = { scopes: ["events:read"] };
  const missing = { delivery_id: "resource_not_found" };
  expect(await faultsOf(webhooks.getDelivery({ ...read, propertyId }))).toEqual(missing);
  expect(await faultsOf(webhooks.getDelivery({ ...read, viewer }))).toEqual(missing);
  expect(await faultsOf(webhooks.retryDelivery({ ...read, viewer }))).toEqual(missing);
  // Disabled, it takes no retry, and what it waited for is cancelled.
  await webhooks.updateEndpoint({ ...name, endpointId: watcher.endpointId, status: EndpointStatus.DISABLED });
  await eventually(async () =>
    (await told()).every(({ status }) => status !== DeliveryStatus.PENDING) ? true : undefined,
  );
  expect(await faultsOf(webhooks.retryDelivery(read))).toEqual({ delivery_id: "invalid_state_transition" });
  await remove({ propertyId: mine.propertyId, endpointId: watcher.endpointId });
  const left =
    "SELECT FROM webhook.deliveries d WHERE NOT EXISTS (SELECT FROM webhook.endpoints WHERE id = d.endpoint_id)";
  await eventually(async () => ((await database.query(left)).rowCount === 0 ? true : undefined));
});
