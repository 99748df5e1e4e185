/** What the metric service tells of new metrics, whoever makes them. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { EventService, EventsLinkedSchema, EventsRecordedSchema } from "#proto/daybook/event/v1/event_pb.ts";
import { MetricsCreatedSchema, MetricService, type Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import { createLocalBus } from "#shared/bus/local.ts";
import { openServiceDatabase } from "#shared/database/reads.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { bindable, createServiceClient } from "#shared/rpc/clients.ts";
import { inProcessTransport } from "#shared/rpc/in-process.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { systemClock } from "#shared/values/clock.ts";
import { newId, newUuid } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { createMetric } from "../../services/metric/service.ts";
import { createDatabase } from "../support/database.ts";
import { connectToMesh, testCall } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

const owner = new Owner();
const log = createLog("test", "error");
const bus = createLocalBus(log);
const told: { propertyId: string; metric: Metric }[] = [];
const start = async () => {
  const { url } = owner.own(await createDatabase(inject("databaseUrl")));
  const registry = createRegistry();
  const pools = openServiceDatabase({ url, name: "metric", connections: { writes: 8, reads: 2 }, log });
  owner.defer(() => pools.end());
  const { database, reads } = pools;
  const { profiles } = connectToMesh().clients;
  // Whatever is asked for has events.
  const events = createServiceClient(
    EventService,
    inProcessTransport(
      (router) => router.service(EventService, { listEvents: () => ({ events: [{}] }) }),
      log,
      registry,
    ),
  );
  const context = { database, reads, bus, clock: systemClock, log, registry };
  const service = owner.own(createMetric(context, { events, profiles }));
  await bus.subscribe("test", "daybook.metric.created", async (messages) => {
    for (const { payload } of messages) {
      if (payload.length >= 1_000_000) throw new Error("the message is too large for the bus");
      const { propertyId, metrics } = fromBinary(MetricsCreatedSchema, payload);
      told.push(...metrics.map((metric) => ({ propertyId, metric })));
    }
  });
  await service.start();
  return bindable(createServiceClient(MetricService, inProcessTransport(service.routes, log, registry)))(testCall);
};
let metrics: Awaited<ReturnType<typeof start>>;

beforeAll(async () => {
  metrics = await start();
});
afterAll(() => owner.close());

const toldOf = (propertyId: string) =>
  told.filter((each) => each.propertyId === propertyId).map(({ metric }) => metric);
const at = toTimestamp(Date.UTC(2026, 10, 1) * 1000);
/** Delivers a message, and fails if the consumer did. */
async function publish(subject: string, payload: Uint8Array): Promise<void> {
  expect(await bus.publish([{ id: newUuid(), subject, payload }])).toEqual(["taken"]);
}
const record = (propertyId: string, types: readonly string[], propertiesJson = "{}") => {
  const events = types.map((type) => ({
    id: newId("evt"),
    type,
    propertiesJson,
    occurredAt: at,
    receivedAt: at,
    source: "api",
  }));
  const message = create(EventsRecordedSchema, { batchId: newUuid(), propertyId, events });
  return publish("daybook.event.recorded", toBinary(EventsRecordedSchema, message));
};

test("each new metric is told once, with what its first events say of it", async () => {
  const propertyId = newId("prop");
  await record(propertyId, ["order.completed", "order.completed", "page.viewed"], '{"order_id":"1"}');
  await record(propertyId, ["order.completed"]);
  await eventually(() => expect(toldOf(propertyId)).toHaveLength(2));
  const order = toldOf(propertyId).find(({ name }) => name === "order.completed");
  expect(order).toMatchObject({ source: "api", system: false, firstSeenAt: at, schema: [{ path: "order_id" }] });
  const { metrics: known } = await metrics.listMetrics({ propertyId, limit: 10 });
  expect(
    toldOf(propertyId)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(known.map(({ id }) => id).toSorted());
});

test("a metric that comes by a request, before its events or for a linked one, is told too", async () => {
  const propertyId = newId("prop");
  const { metric } = await metrics.createMetric({ propertyId, name: "visit.made", description: "A visit" });
  await metrics.getMetrics({ propertyId, names: ["cart.filled"], haveEvents: true });
  const linked = { type: "form.sent", occurredAt: at, source: "api", eventId: newId("evt") };
  const message = create(EventsLinkedSchema, { propertyId, profileId: newId("prof"), events: [linked] });
  await publish("daybook.event.linked", toBinary(EventsLinkedSchema, message));
  await record(propertyId, ["visit.made", "cart.filled", "form.sent"]);
  await eventually(() => expect(toldOf(propertyId)).toHaveLength(3));
  expect(toldOf(propertyId)).toContainEqual(metric);
  expect(await refusal(metrics.createMetric({ propertyId, name: "visit.made" }))).toBe("metric_exists");
  expect(toldOf(propertyId)).toHaveLength(3);
});

test("a metric that forty ask for, record and create at once is told once", async () => {
  const propertyId = newId("prop");
  const names = ["a.b", "c.d", "e.f"];
  await Promise.all(
    Array.from({ length: 40 }, (_, index) => {
      const wanted = index % 2 === 0 ? names : names.toReversed();
      if (index % 4 < 2) return metrics.getMetrics({ propertyId, names: wanted, haveEvents: true });
      if (index % 4 === 2) return record(propertyId, wanted);
      return refusal(metrics.createMetric({ propertyId, name: wanted[index % 3] as string }));
    }),
  );
  await eventually(() => expect(toldOf(propertyId)).toHaveLength(names.length));
  expect(new Set(toldOf(propertyId).map(({ name }) => name))).toEqual(new Set(names));
});

test("very many new metrics go in messages that the bus takes", async () => {
  const propertyId = newId("prop");
  // Each metric has the schema of its event.
  const wide = JSON.stringify(
    Object.fromEntries(Array.from({ length: 90 }, (_, key) => [`${"k".repeat(90)}${key}`, 1])),
  );
  const names = Array.from({ length: 150 }, (_, index) => `type.n${index}`);
  await record(propertyId, names, wide);
  await eventually(() => expect(toldOf(propertyId)).toHaveLength(names.length));
});

async function refusal(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "",
    (error: unknown) => (error as { code: string }).code,
  );
}
