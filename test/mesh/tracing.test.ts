/**
 * Traces: one trace shows the whole way of an event, nothing of a person is exported, and no request depends on who
 * receives the spans.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createDatabase } from "../support/database.ts";
import { connectTo, type TestDaybook, type TestProperty } from "../support/daybook.ts";
import { startMesh } from "../support/mesh.ts";
import { startNats } from "../support/nats.ts";
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from "../support/otlp.ts";
import { eventually, freePort, startNode } from "../support/processes.ts";
import { startOneProcess } from "../support/single-process.ts";

const owner = new Owner();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "daybook-tracing-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
});
afterAll(() => owner.close());

const newTraceId = (): string => randomBytes(16).toString("hex");
const newDatabase = async (): Promise<string> => owner.own(await createDatabase(inject("databaseUrl"))).url;
const settingsFor = (url: string): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_BSP_SCHEDULE_DELAY: "100",
});

/** The span that the caller of the gateway says it has. */
const callersSpan = "00f067aa0ba902b7";

function inTrace(traceId: string): { headers: Record<string, string> } {
  return { headers: { traceparent: `00-${traceId}-${callersSpan}-01`, tracestate: "vendor=1" } };
}

const deployments = [
  {
    name: "a mesh with NATS",
    services: ["daybook-event", "daybook-gateway", "daybook-metric", "daybook-profile"],
    async start(env: Record<string, string>) {
      const nats = owner.own(await startNats(join(folder, "nats")));
      return startMesh({ databaseUrl: await newDatabase(), natsUrl: nats.url, env }, owner);
    },
  },
  {
    name: "a single process",
    services: ["daybook"],
    start: async (env: Record<string, string>) => startOneProcess(await newDatabase(), join(folder, "one"), owner, env),
  },
];

describe.each(deployments)("$name", ({ services, start }) => {
  let receiver: OtlpReceiver;
  let daybook: TestDaybook;
  let api: TestProperty;

  beforeAll(async () => {
    receiver = owner.own(await startOtlpReceiver());
    daybook = connectTo(await start(settingsFor(receiver.url)));
    api = await daybook.newProperty();
  });

  /** Waits until the trace has a span of each name, and all spans between them. */
  async function traceWith(traceId: string, names: readonly string[]): Promise<ReceivedSpan[]> {
    let spans: ReceivedSpan[] = [];
    return eventually(
      () => {
        spans = receiver.spans().filter((span) => span.traceId === traceId);
        const ids = new Set(spans.map(({ spanId }) => spanId).concat(callersSpan, ""));
        const isWhole = spans.every(({ parentSpanId }) => ids.has(parentSpanId));
        return isWhole && names.every((name) => spans.some((span) => span.name === name)) ? spans : undefined;
      },
      { explain: () => `the trace has only: ${spans.map(({ service, name }) => `${service} ${name}`).join(", ")}` },
    );
  }

  test("one trace shows the way of an event through gateway, services, database, bus and roll-up", async () => {
    const traceId = newTraceId();
    const event = { type: "trace.event", identifier: { type: "email", value: "trace@example.com" }, properties: {} };
    expect((await api.post("/v1/events", event, inTrace(traceId))).status).toBe(201);
    const spans = await traceWith(traceId, [
      "POST /v1/events",
      "daybook.event.v1.EventService/RecordEvents",
      "daybook.profile.v1.ProfileService/ResolveProfiles",
      "event.events.insert",
      "publish daybook.event.recorded",
      "process metric",
      "metric.roll_up",
      "metric.rollups.add",
    ]);
    expect([...new Set(spans.map(({ service }) => service))].toSorted()).toEqual(expect.arrayContaining(services));
    const find = (name: string): ReceivedSpan => spans.find((span) => span.name === name) as ReceivedSpan;
    expect(find("POST /v1/events").parentSpanId).toBe(callersSpan);
    expect(find("POST /v1/events").attributes).toMatchObject({
      "http.route": "/v1/events",
      "http.response.status_code": "201",
    });
    const parentOf = (span: ReceivedSpan): ReceivedSpan | undefined =>
      spans.find(({ spanId }) => spanId === span.parentSpanId);
    expect(parentOf(find("metric.roll_up"))?.name).toBe("transaction");
    expect(spans.filter(({ isError }) => isError)).toEqual([]);
  });

  test("requests that share a call are linked to its trace, and it to theirs", async () => {
    const event = { type: "trace.shared", identifier: { type: "card", value: "1" }, properties: {} };
    const traceIds = Array.from({ length: 40 }, newTraceId);
    const shared = await eventually(
      async () => {
        await Promise.all(traceIds.map((traceId) => api.post("/v1/events", event, inTrace(traceId))));
        await traceWith(traceIds.at(-1) as string, ["POST /v1/events"]);
        return receiver.spans().find(({ name, links }) => name === "batch" && links.length > 1);
      },
      { explain: () => "no call was shared" },
    );
    expect(shared.parentSpanId).toBe("");
    expect(traceIds).toEqual(expect.arrayContaining(shared.links.map(({ traceId }) => traceId)));
    expect(traceIds).not.toContain(shared.traceId);
    const linked = await eventually(() =>
      receiver.spans().find(({ links }) => links.some(({ spanId }) => spanId === shared.spanId)),
    );
    expect(linked.name).toBe("POST /v1/events");
    // A consumer that takes several messages at once has a trace of its own with a link to each.
    await eventually(() =>
      receiver
        .spans()
        .find(
          ({ name, traceId, links }) =>
            name === "process metric" && [traceId, ...links.map((link) => link.traceId)].includes(shared.traceId),
        ),
    );
  });

  test.each([
    ["malformed", "not a traceparent"],
    ["of zeros", `00-${"0".repeat(32)}-${"0".repeat(16)}-01`],
    ["too long", `00-${"a".repeat(32)}-${"b".repeat(16)}-01-tail`],
    ["huge", "a".repeat(8_000)],
  ])("a traceparent that is %s is ignored", async (_name, traceparent) => {
    const headers = { traceparent, tracestate: "x".repeat(6_000) };
    const { status, headers: answered } = await api.get("/v1/account", { headers });
    expect(status).toBe(200);
    const span = await eventually(() =>
      receiver.spans().find(({ attributes }) => attributes["daybook.request_id"] === answered.get("x-request-id")),
    );
    expect(span.parentSpanId).toBe("");
    expect(span.traceId).not.toBe("a".repeat(32));
  });

  test("nothing that callers send, and no id of a person, is exported", async () => {
    const secrets = ["zebulon", "quartermaine", "+4917612345678", "hidden-property", "hidden_field", "hidden-path"];
    const [first, last, phone, word, tag, path] = secrets as [string, string, string, string, string, string];
    const email = { type: "email", value: `${first}@example.com` };
    const profile = (
      await api.post("/v1/profiles", {
        identifiers: [email, { type: "phone", value: phone }],
        attributes: { first_name: first, last_name: last, note: word },
      })
    ).body.data;
    // Errors of each kind: refused, absent, held by another, of no route, not readable.
    await api.post("/v1/profiles", { identifiers: [email], attributes: { note: word } });
    await api.post("/v1/profiles/upsert", { identifiers: [email], attributes: { note: word } });
    await api.patch(`/v1/profiles/${profile.id}`, { attributes: { [tag]: tag } });
    await api.get(`/v1/profiles?identifier_type=email&identifier=${encodeURIComponent(email.value)}`);
    await api.get(`/v1/profiles/${profile.id}`);
    await api.get(`/v1/${path}?q=${last}`);
    await api.post("/v1/events", `{"${word}`);
    const traceId = newTraceId();
    const event = { type: "trace.secret", identifier: email, properties: { [word]: word }, dedupe_id: `${word}-1` };
    expect((await api.post("/v1/events", event, inTrace(traceId))).status).toBe(201);
    await traceWith(traceId, ["process metric"]);
    const routes = ["POST /v1/profiles/upsert", "GET /v1/profiles/:id", "PATCH /v1/profiles/:id", "none none"];
    await eventually(() =>
      routes.every((name) => receiver.spans().some((span) => span.name === name)) ? true : undefined,
    );
    const text = receiver.text();
    const forms = [...secrets, profile.id, api.secret, api.keyId];
    expect(forms.filter((form) => text.toLowerCase().includes(String(form).toLowerCase()))).toEqual([]);
    expect(text).not.toMatch(/prof_|sk_test_/);
  });

  test("requests go on while the receiver answers with errors, does not answer, and is away", async () => {
    const record = async (): Promise<void> => {
      const startMs = performance.now();
      const event = { type: "trace.on", identifier: { type: "card", value: "2" }, properties: {} };
      expect((await api.post("/v1/events", event)).status).toBe(201);
      // An export waits up to 10 s.
      expect(performance.now() - startMs).toBeLessThan(5_000);
    };
    for (const how of ["error", "never"] as const) {
      receiver.answer(how);
      const { requests } = receiver;
      await record();
      await eventually(() => (receiver.requests > requests ? true : undefined));
      await record();
    }
    await receiver.close();
    await record();
    await record();
  });
});

test("a process stops in time, with exit code 0, while the receiver does not answer", async () => {
  const receiver = owner.own(await startOtlpReceiver());
  receiver.answer("never");
  const internal = await freePort();
  const port = await freePort();
  const gateway = owner.own(
    startNode("gateway/main.ts", {
      ...settingsFor(receiver.url),
      HOST: "127.0.0.1",
      PORT: String(port),
      INTERNAL_PORT: String(internal),
      INTERNAL_TOKEN: "a token for the mesh of the tests only",
    }),
  );
  await eventually(async () => ((await fetch(`http://127.0.0.1:${port}/health/live`)).ok ? true : undefined), {
    explain: gateway.output,
  });
  await eventually(() => (receiver.requests > 0 ? true : undefined));
  gateway.child.kill("SIGTERM");
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
});

test("spans that wait are sent when a process stops", async () => {
  const receiver = owner.own(await startOtlpReceiver());
  const port = await freePort();
  const gateway = owner.own(
    startNode("gateway/main.ts", {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: "600000",
      OTEL_SERVICE_NAME: "edge",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
      HOST: "127.0.0.1",
      PORT: String(port),
      INTERNAL_PORT: "0",
      INTERNAL_TOKEN: "a token for the mesh of the tests only",
    }),
  );
  await eventually(async () => ((await fetch(`http://127.0.0.1:${port}/health/live`)).ok ? true : undefined), {
    explain: gateway.output,
  });
  expect(receiver.requests).toBe(0);
  gateway.child.kill("SIGTERM");
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
  expect(receiver.spans().map(({ service, name }) => `${service} ${name}`)).toContain("edge GET /health/live");
  expect(receiver.text()).toContain("deployment.environment.name");
});

test("settings that cannot be used are named, and OTEL_SDK_DISABLED turns tracing off", async () => {
  const start = (env: Record<string, string>) => owner.own(startNode("gateway/main.ts", env));
  const bad = start({
    OTEL_EXPORTER_OTLP_ENDPOINT: "ftp://collector",
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
    INTERNAL_TOKEN: "a token for the mesh of the tests only",
  });
  expect((await bad.ended).code).toBe(1);
  expect(bad.output()).toContain("OTEL_EXPORTER_OTLP_ENDPOINT must be an address that starts with http: or https:");
  expect(bad.output()).toContain("OTEL_EXPORTER_OTLP_PROTOCOL must be http/json");
  const receiver = owner.own(await startOtlpReceiver());
  const port = await freePort();
  const off = start({
    ...settingsFor(receiver.url),
    OTEL_SDK_DISABLED: "true",
    HOST: "127.0.0.1",
    PORT: String(port),
    INTERNAL_PORT: "0",
    INTERNAL_TOKEN: "a token for the mesh of the tests only",
  });
  await eventually(async () => ((await fetch(`http://127.0.0.1:${port}/health/live`)).ok ? true : undefined));
  off.child.kill("SIGTERM");
  expect((await off.ended).code).toBe(0);
  expect(receiver.requests).toBe(0);
});
