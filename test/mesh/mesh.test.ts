/** What only the mesh can show: what crosses the lines between its processes, and what does not. */
import { createClient } from "@connectrpc/connect";
import { expect, inject, test } from "vitest";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { callOptions } from "#shared/interceptors.ts";
import { http2Transport } from "#shared/transport.ts";
import { connectToMesh } from "../support/daybook.ts";

const call = callOptions({ requestId: "", caller: "test" });

test("a service answers nobody without the internal credential", async () => {
  const { identityUrl, eventUrl } = inject("mesh");
  const stranger = http2Transport(identityUrl, "a guess that is as long as the token is");
  await expect(createClient(IdentityService, stranger).createProperty({ name: "x", mode: 1 }, call)).rejects.toThrow(
    /answers only its own mesh/,
  );
  const bare = await fetch(`${eventUrl}/daybook.event.v1.EventService/RecordEvents`, { method: "POST" }).catch(
    () => null,
  );
  // HTTP/1.1 does not get as far as that.
  expect(bare).toBeNull();
});

test("a service gives a whole answer for each of many items", async () => {
  const { eventUrl, internalToken } = inject("mesh");
  const api = await connectToMesh().newProperty();
  const client = createClient(EventService, http2Transport(eventUrl, internalToken));
  const { results } = await client.recordEvents(
    {
      propertyId: api.propertyId,
      events: ["order.completed", "sms.sent"].map((type) => ({
        type,
        profile: { reference: { case: "identifier" as const, value: { type: "email", value: "a@example.com" } } },
        propertiesJson: "{}",
        source: "sdk",
      })),
      returnEvents: true,
    },
    call,
  );
  expect(results.map(({ outcome }) => outcome.case)).toEqual(["recorded", "error"]);
  await expect(client.recordEvents({ propertyId: api.propertyId, events: [] }, call)).rejects.toThrow(/at least one/);
  await expect(client.recordEvents({ propertyId: "prop_1", events: [{}] }, call)).rejects.toThrow(/not an id/);
});

test("probes and Prometheus are served inside only", async () => {
  const { gatewayUrl, eventInternalUrl } = inject("mesh");
  expect((await fetch(`${gatewayUrl}/health/live`)).status).toBe(200);
  expect((await fetch(`${gatewayUrl}/health/ready`)).status).toBe(200);
  expect((await fetch(`${gatewayUrl}/metrics`)).status).toBe(404);
  expect((await fetch(`${eventInternalUrl}/health/ready`)).status).toBe(200);
  const metrics = await (await fetch(`${eventInternalUrl}/metrics`)).text();
  expect(metrics).toMatch(/^daybook_outbox_rows\{schema="event"\} \d+$/m);
  expect(metrics).toMatch(/^daybook_outbox_published_rows\{schema="event"\} \d+$/m);
  expect(metrics).toMatch(/^daybook_consumer_lag_messages\{consumer="metric"\} \d+$/m);
  expect(metrics).toMatch(/^daybook_rpc_duration_seconds_count\{method="RecordEvents",code="ok"\} \d+$/m);
});
