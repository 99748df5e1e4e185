/** Endpoints of apps follow their installations; and endpoints that are tested. */
import type { Client } from "@connectrpc/connect";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  DeliveryError,
  DeliveryStatus,
  DeliveryTrigger,
  DisabledReason,
  EndpointStatus,
  type Endpoint,
  type WebhookService,
} from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { bindable, type BoundClient } from "#shared/rpc/clients.ts";
import { newId } from "#shared/values/ids.ts";
import { faultsOf, refusalOf } from "../support/app-identity.ts";
import { installApp, makeApp } from "../support/apps.ts";
import { startSingleProcess, testCall, type SingleProcess } from "../support/daybook.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import {
  accept,
  createAuthority,
  reply,
  startReceiver,
  trust,
  type Received,
  type Receiver,
} from "../support/receivers.ts";

const owner = new Owner();
let daybook: SingleProcess;
let webhooks: BoundClient<Client<typeof WebhookService>>;
let receiver: Receiver;

beforeAll(async () => {
  const authority = await createAuthority();
  trust(authority, owner);
  receiver = owner.own(await startReceiver(authority));
  daybook = await startSingleProcess(owner, { webhook: { allowedNetworks: ["127.0.0.0/8"] } });
  webhooks = bindable(daybook.clients.webhooks)(testCall);
});
afterAll(() => owner.close());
beforeEach(() => {
  receiver.answer(accept);
});

function headersOf({ headers }: Received): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

test("an app gets what its installation allows, and that it was uninstalled as its last message", async () => {
  const api = await daybook.newProperty();
  const { propertyId } = api;
  const url = `${receiver.url}/${propertyId}`;
  const ofProperty = (): Received[] => receiver.received.filter(({ path }) => path.endsWith(propertyId));
  const scopes = ["events:read", "metrics:read"];
  const { app } = await makeApp(daybook, { scopes, webhook: { url, types: ["*"] } });
  const { secret } = await webhooks.rotateAppWebhookSecret({ appId: app.id });
  const installation = await installApp(daybook, propertyId, { appId: app.id, scopes: ["events:read"] });
  const endpoints = async (): Promise<Endpoint[]> =>
    (await webhooks.listEndpoints({ propertyId, limit: 10 })).endpoints;
  const made = await eventually(async () => (await endpoints())[0]);
  expect(made).toMatchObject({
    url,
    types: ["event.recorded", "event.linked", "app.uninstalled", "webhook.test"],
    appId: app.id,
    createdBy: installation.installationId,
    status: EndpointStatus.ENABLED,
  });
  const name = { propertyId, endpointId: made.id };
  const impossible = { endpoint_id: "invalid_state_transition" };
  expect(await faultsOf(webhooks.updateEndpoint({ ...name, url }))).toEqual(impossible);
  expect(await faultsOf(webhooks.rotateEndpointSecret(name))).toEqual(impossible);
  expect(await faultsOf(webhooks.deleteEndpoint(name))).toEqual(impossible);
  const person = await newProfile(api);
  await api.post("/v1/events", { type: "a.b", profile_id: person.id, properties: {} });
  const first = await eventually(() => ofProperty()[0]);
  expect(new Webhook(secret).verify(first.body, headersOf(first))).toMatchObject({ type: "event.recorded" });

  await installation.end();
  const ended = await eventually(async () =>
    (await endpoints()).find(({ status }) => status === EndpointStatus.DISABLED),
  );
  expect(ended.disabledReason).toBe(DisabledReason.OWNER_ENDED);
  await api.post("/v1/events", { type: "a.b", profile_id: person.id, properties: {} });
  const bodies = ofProperty().map(({ body }) => JSON.parse(body) as { type: string; data: object });
  expect(bodies.map(({ type }) => type)).toEqual(["event.recorded", "app.uninstalled"]);
  expect(bodies[1]?.data).toEqual({ installation_id: installation.installationId });
  // Installed again, it goes on under the same id.
  await installApp(daybook, propertyId, { appId: app.id, scopes });
  const again = await eventually(async () =>
    (await endpoints()).find(({ status }) => status === EndpointStatus.ENABLED),
  );
  expect(again).toMatchObject({ id: made.id, types: expect.arrayContaining(["metric.created"]) });
  expect((await refusalOf(webhooks.rotateAppWebhookSecret({ appId: newId("app") }))).code).toBe("resource_not_found");
});

test("a test is answered with its attempt, also of a disabled endpoint, at most ten times a minute", async () => {
  const { propertyId } = await daybook.newProperty();
  const { endpoint, secret } = await webhooks.createEndpoint({
    propertyId,
    url: `${receiver.url}/${propertyId}`,
    types: ["event.recorded"],
    headers: [{ name: "x-shop", value: "tea" }],
    revision: "2026-11-01",
    createdBy: "operator",
    disabled: true,
  });
  const name = { propertyId, endpointId: endpoint?.id ?? "" };
  const { delivery } = await webhooks.testEndpoint(name);
  expect(delivery).toMatchObject({
    status: DeliveryStatus.DELIVERED,
    trigger: DeliveryTrigger.TEST,
    type: "webhook.test",
    attempts: 1,
    lastResponseStatus: 204,
    attemptList: [{ number: 1, responseStatus: 204, error: DeliveryError.UNSPECIFIED }],
  });
  const received = receiver.received.find(({ path }) => path.endsWith(propertyId));
  if (!received) throw new Error("nothing was received");
  expect(received.headers).toMatchObject({ "x-shop": "tea", "webhook-id": delivery?.messageId });
  expect(new Webhook(secret).verify(received.body, headersOf(received))).toMatchObject({
    data: { endpoint_id: name.endpointId },
  });
  receiver.answer(reply(500, {}, "out of tea"));
  const failed = (await webhooks.testEndpoint(name)).delivery;
  expect(failed).toMatchObject({ status: DeliveryStatus.FAILED, lastError: DeliveryError.HTTP_STATUS });
  expect(failed?.attemptList).toMatchObject([{ responseExcerpt: "out of tea" }]);
  const stranger = { ...name, propertyId: (await daybook.newProperty()).propertyId };
  expect(await faultsOf(webhooks.testEndpoint(stranger))).toEqual({ endpoint_id: "resource_not_found" });
  const outcomes = await Promise.all(
    Array.from({ length: 16 }, () =>
      webhooks.testEndpoint(name).then(
        () => "sent",
        (error: unknown) => (error as { code: string }).code,
      ),
    ),
  );
  expect(outcomes.filter((outcome) => outcome === "sent")).toHaveLength(8);
  expect(new Set(outcomes)).toEqual(new Set(["sent", "rate_limited"]));
});
