/** What only the mesh can show: what crosses the lines between its processes, and what does not. */
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { expect, inject, test } from "vitest";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import { connectToMesh, testCall } from "../support/daybook.ts";

const call = systemCall("test");

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
  await expect(client.recordEvents({ propertyId: api.propertyId, events: [] }, call)).rejects.toThrow(
    /at least 1 item/,
  );
  await expect(client.recordEvents({ propertyId: "prop_1", events: [{}] }, call)).rejects.toThrow(
    /must be an id of the form prop_/,
  );
});

test("calls go their way beside large ones", async () => {
  const daybook = connectToMesh();
  const api = await daybook.newProperty();
  const { propertyId } = api;
  const attributes = { text: "x".repeat(250_000) };
  const made = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      api.post("/v1/profiles", { identifiers: [{ type: "email", value: `p${index}@example.com` }], attributes }),
    ),
  );
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
  const profileIds = made.map(({ body }): string => body.data.id);
  const large = Promise.all(
    Array.from({ length: 6 }, () => daybook.clients.profiles.getProfiles({ propertyId, profileIds }, testCall)),
  );
  const statuses: number[] = [];
  let answers: Awaited<typeof large> | undefined;
  while (!answers) {
    statuses.push((await api.get("/v1/profiles/prof_01h455vb4pex5vsknk084sn02q")).status);
    answers = await Promise.race([large, sleep(1, undefined)]);
  }
  expect(statuses.filter((status) => status !== 404)).toEqual([]);
  expect(answers.map(({ profiles }) => profiles.length)).toEqual(answers.map(() => 60));
});

test("probes and Prometheus are served inside only", async () => {
  const { gatewayUrl, eventInternalUrl } = inject("mesh");
  expect((await fetch(`${gatewayUrl}/health/live`)).status).toBe(200);
  expect((await fetch(`${gatewayUrl}/health/ready`)).status).toBe(200);
  // A path of the compatibility surface, which asks for a key.
  expect((await fetch(`${gatewayUrl}/metrics`)).status).toBe(401);
  expect((await fetch(`${eventInternalUrl}/health/ready`)).status).toBe(200);
  const metrics = await (await fetch(`${eventInternalUrl}/metrics`)).text();
  expect(metrics).toMatch(/^daybook_outbox_rows\{schema="event"\} \d+$/m);
  expect(metrics).toMatch(/^daybook_outbox_published_rows\{schema="event"\} \d+$/m);
  expect(metrics).toMatch(/^daybook_consumer_lag_messages\{consumer="metric"\} \d+$/m);
  expect(metrics).toMatch(/^daybook_rpc_duration_seconds_count\{method="RecordEvents",code="ok"\} \d+$/m);
});
