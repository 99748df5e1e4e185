/** What `npm run screenshots` needs for Webhooks, Rejected writes and Privacy: receivers, refusals and requests. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PrivacyRequestStatus, PrivacyRequestType } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { EndpointStatus } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import type { Owner } from "#shared/process/lifecycle.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import type { Clients } from "../gateway/clients.ts";
import { eventually } from "../test/support/processes.ts";

export interface Outward {
  /** An endpoint that has got messages. */
  endpoint: string;
  /** A privacy request that is settled. */
  request: string;
  /** Further screens. */
  shots: readonly { name: string; path: string }[];
}

interface Store {
  address: string;
  property: string;
  clients: Clients;
  command: (...words: string[]) => Promise<Record<string, unknown>>;
}

const timeoutMs = 60_000;
const call = systemCall("screenshots", timeoutMs);
const dayMs = 86_400_000;

/** A server that takes messages, or does not. @returns its address. */
async function receive(owner: Owner, status: number, text: string): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status).end(text));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()));
  owner.defer(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function makeOutward(owner: Owner, store: Store): Promise<Outward> {
  const { property, address, command } = store;
  const endpoint = await makeWebhooks(owner, store);
  const words = ["--property", property, "--scopes", "events:write,profiles:write"];
  const { secret } = await command("keys", "create", "Till", ...words);
  const post = async (path: string, body: unknown): Promise<void> => {
    const headers = { authorization: `Bearer ${String(secret)}`, "content-type": "application/json" };
    await fetch(`${address}/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  };
  await sendEvents(post);
  const { delivery, write } = await findLast(store, endpoint);
  return {
    endpoint,
    request: await makeRequests(store),
    shots: [
      { name: "webhook-create", path: "webhooks?create=yes" },
      { name: "deliveries", path: `webhooks?show=deliveries${delivery}` },
      { name: "rejected-writes", path: `rejected?show=writes${write}` },
      { name: "privacy-erase", path: "privacy?create=erasure" },
      { name: "privacy-access", path: "privacy?create=access" },
      { name: "suppressions", path: "privacy?show=suppressions" },
    ],
  };
}

async function makeWebhooks(owner: Owner, { clients: { webhooks }, property: propertyId }: Store): Promise<string> {
  const make = async (url: string, description: string, types: string[]): Promise<string> => {
    const made = { propertyId, url, description, types, revision: "2026-11-01", createdBy: "operator" };
    const { endpoint } = await webhooks.createEndpoint(made, call);
    return endpoint?.id ?? "";
  };
  const stock = await make(`${await receive(owner, 200, "")}/daybook`, "Warehouse", ["event.recorded"]);
  const failing = await receive(owner, 500, "The database of the ledger is away.");
  await make(`${failing}/hooks`, "Ledger", ["event.recorded", "profile.merged", "profile.redacted"]);
  const old = await make("https://hooks.example.com/daybook", "", ["*"]);
  await webhooks.updateEndpoint({ propertyId, endpointId: old, status: EndpointStatus.DISABLED }, call);
  return stock;
}

/** Some that are recorded, and some that are refused. */
async function sendEvents(post: (path: string, body: unknown) => Promise<void>): Promise<void> {
  const identifier = { type: "email", value: "ada@example.com" };
  const event = (order: number) => ({
    type: "order.shipped",
    identifier,
    value: "49.90",
    currency: "EUR",
    properties: { order_id: String(order), carrier: "post" },
  });
  for (let order = 2001; order < 2013; order++) await post("/events", event(order));
  for (let order = 3001; order < 3008; order++) await post("/events", { ...event(order), value: 49.9 });
  for (let order = 4001; order < 4004; order++) await post("/events", { ...event(order), type: "Order shipped" });
  await post("/events/batch", {
    events: [event(5001), { ...event(5002), currency: "Euro" }, { type: "order.shipped" }],
  });
  await post("/profiles", { identifiers: [{ type: "email", value: "not an email" }] });
}

/** What is behind the answers, as soon as it is there. */
async function findLast({ clients: { webhooks, rejectedWrites }, property: propertyId }: Store, endpointId: string) {
  const find = async () => {
    const { deliveries } = await webhooks.listDeliveries({ propertyId, limit: 50 }, call);
    const { writes } = await rejectedWrites.listRejectedWrites({ propertyId, limit: 50 }, call);
    const failed = deliveries.find((delivery) => delivery.endpointId !== endpointId && delivery.attempts > 0);
    const write = writes.find(({ error }) => error?.param === "value");
    return failed && write && { delivery: `&delivery=${failed.id}`, write: `&write=${write.id}` };
  };
  return eventually(find, { timeoutMs });
}

async function makeRequests({ clients: { privacy }, property: propertyId }: Store): Promise<string> {
  const make = async (type: PrivacyRequestType, value: string, more: object = {}): Promise<string> => {
    const identifiers = [{ type: "email", value }];
    const asked = { propertyId, type, identifiers, createdBy: "operator", ...more };
    const { request } = await privacy.createPrivacyRequest(asked, call);
    return request?.id ?? "";
  };
  const ago = (days: number): string => new Date(Date.now() - days * dayMs).toISOString();
  const later = { notBefore: new Date(Date.now() + 3 * dayMs).toISOString() };
  const erase = { suppress: true, regulation: "gdpr" };
  await make(PrivacyRequestType.ERASURE, "left@example.com", { ...erase, submittedAt: ago(2) });
  await make(PrivacyRequestType.ERASURE, "waits@example.com", { ...later, submittedAt: ago(31), reference: "T-1041" });
  await make(PrivacyRequestType.ACCESS, "soon@example.com", { ...later, submittedAt: ago(26), regulation: "ccpa" });
  const access = await make(PrivacyRequestType.ACCESS, "ada@example.com", { regulation: "gdpr", reference: "T-1057" });
  const isSettled = async (): Promise<true | undefined> => {
    const { request } = await privacy.getPrivacyRequest({ propertyId, privacyRequestId: access }, call);
    return request?.status === PrivacyRequestStatus.COMPLETED || undefined;
  };
  await eventually(isSettled, { timeoutMs });
  return access;
}
