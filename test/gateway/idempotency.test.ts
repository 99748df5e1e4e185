/** Idempotency-Key: each write is done once, however often and by however many it is sent, and is answered the same. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "#shared/values/clock.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { createGateway } from "../../gateway/app.ts";
import { createApi, type Answer, type Api } from "../support/api.ts";
import {
  describeEverywhere,
  describeOnce,
  describeOnMesh,
  singleProcessToken,
  startSingleProcess,
  testCall,
  type SingleProcess,
  type TestProperty,
} from "../support/daybook.ts";
import { keyed, promiseOnce, replayedOf, sendUntilDone, withoutId, type Write } from "../support/idempotency.ts";
import { eventually } from "../support/processes.ts";

const email = (name: string): { type: string; value: string } => ({ type: "email", value: `${name}@example.com` });
const event = (name: string): object => ({ type: "order.completed", identifier: email(name), properties: { name } });

async function newProfile(api: Api, ...names: string[]): Promise<Record<string, string>> {
  const { body } = await api.post("/v1/profiles", { identifiers: names.map(email), attributes: { tags: ["a"] } });
  const [identifier = ""] = body.data.identifier_ids;
  return { profile: body.data.id, identifier };
}

const writes: Write[] = [
  { name: "an event", method: "POST", path: () => "/v1/events", body: () => event("ada") },
  {
    name: "an event with a dedupe_id",
    method: "POST",
    path: () => "/v1/events",
    body: () => ({ ...event("ada"), dedupe_id: "once" }),
  },
  {
    name: "the guide's event",
    method: "POST",
    path: () => "/v1/events",
    body: () => ({ event_type: "a.b", profile: { email: "ada@example.com" }, properties: {}, idempotency_key: "k" }),
  },
  {
    name: "a batch of events with a bad one",
    method: "POST",
    path: () => "/v1/events/batch",
    body: () => ({ events: [event("ada"), { type: "sms.sent" }, { ...event("bob"), idempotency_key: "own" }] }),
  },
  {
    name: "history",
    method: "POST",
    path: () => "/v1/events/batch",
    body: () => ({ events: [event("ada"), event("ada")], backfill: true }),
  },
  { name: "a profile", method: "POST", path: () => "/v1/profiles", body: () => ({ identifiers: [email("eve")] }) },
  {
    name: "an upsert that makes a profile",
    method: "POST",
    path: () => "/v1/profiles/upsert",
    body: () => ({ identifiers: [email("eve")], attributes: { plan: "gold" } }),
  },
  {
    name: "an upsert of a profile that is there",
    prepare: (api) => newProfile(api, "eve"),
    method: "POST",
    path: () => "/v1/profiles/upsert",
    body: () => ({
      identifiers: [email("eve"), email("eve.two")],
      attribute_operations: [{ op: "append_unique", path: "tags", value: "b" }],
    }),
  },
  {
    name: "the guide's upsert",
    method: "POST",
    path: () => "/v1/profiles/upsert",
    body: () => ({ identifiers: { email: "eve@example.com" }, attributes: { plan: "gold" } }),
  },
  {
    name: "a batch of profiles with a bad one",
    method: "POST",
    path: () => "/v1/profiles/batch",
    body: () => ({ profiles: [{ identifiers: [email("eve")] }, {}, { identifiers: [email("eve"), email("kim")] }] }),
  },
  {
    name: "an update",
    prepare: (api) => newProfile(api, "eve"),
    method: "PATCH",
    path: ({ profile }) => `/v1/profiles/${profile}`,
    body: () => ({ attribute_operations: [{ op: "append_unique", path: "tags", value: "b" }] }),
  },
  {
    name: "an identifier",
    prepare: (api) => newProfile(api, "eve"),
    method: "POST",
    path: ({ profile }) => `/v1/profiles/${profile}/identifiers`,
    body: () => email("eve.two"),
  },
  {
    name: "a primary identifier",
    prepare: (api) => newProfile(api, "eve"),
    method: "PATCH",
    path: ({ profile, identifier }) => `/v1/profiles/${profile}/identifiers/${identifier}`,
    body: () => ({ is_primary: true }),
  },
  {
    name: "a removal",
    prepare: (api) => newProfile(api, "eve", "eve.two"),
    method: "DELETE",
    path: ({ profile, identifier }) => `/v1/profiles/${profile}/identifiers/${identifier}`,
  },
  {
    name: "a merge",
    async prepare(api) {
      const [{ profile = "" }, { profile: source = "" }] = [await newProfile(api, "eve"), await newProfile(api, "kim")];
      return { profile, source };
    },
    method: "POST",
    path: ({ profile }) => `/v1/profiles/${profile}/merge`,
    body: ({ source }) => ({ source_profile_id: source }),
  },
  { name: "a metric", method: "POST", path: () => "/v1/metrics", body: () => ({ name: "cart.saved" }) },
  {
    name: "a description",
    async prepare(api) {
      const { body } = await api.post("/v1/metrics", { name: "cart.saved" });
      return { metric: body.data.id };
    },
    method: "PATCH",
    path: ({ metric }) => `/v1/metrics/${metric}`,
    body: () => ({ description: "Carts that were kept" }),
  },
];

describeOnce("Idempotency-Key", (daybook) => promiseOnce(daybook, writes));

describeEverywhere("Idempotency-Key", (daybook) => {
  test("200 clients that race with one key record one event", async () => {
    const api = await daybook().newProperty();
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => sendUntilDone(() => api.post("/v1/events", event("ada"), keyed("race")))),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.data.id}`)).size).toBe(1);
    expect((await api.get("/v1/events?filter[type]=order.completed")).body.data).toHaveLength(1);
  });

  test("a key of another request is refused", async () => {
    const api = await daybook().newProperty();
    const { profile } = await newProfile(api, "eve");
    await api.post("/v1/events", event("ada"), keyed("k"));
    const others = await Promise.all([
      api.post("/v1/events", event("bob"), keyed("k")),
      // The bytes count, not what they mean.
      api.post("/v1/events", JSON.stringify(event("ada"), null, 1), keyed("k")),
      api.post("/v1/events/batch", { events: [event("ada")] }, keyed("k")),
      api.post("/v1/events?x=1", event("ada"), keyed("k")),
      api.patch(`/v1/profiles/${profile}`, { attributes: { a: 1 } }, keyed("k")),
      api.delete(`/v1/profiles/${profile}/identifiers/idnt_00000000000000000000000000`, keyed("k")),
    ]);
    for (const { status, body } of others) {
      expect([status, body.error.type, body.error.code, body.error.param, body.error.retryable]).toEqual([
        409,
        "idempotency_error",
        "idempotency_key_reused",
        "Idempotency-Key",
        false,
      ]);
    }
    expect((await api.get("/v1/events?filter[type]=order.completed")).body.data).toHaveLength(1);
  });

  test("of two requests that come with one key at a time one is done, and the other is refused", async () => {
    const api = await daybook().newProperty();
    const { profile } = await newProfile(api, "eve");
    const eventNamed = (name: string) => ({ type: "order.completed", profile_id: profile, properties: { name } });
    for (let turn = 0; turn < 20; turn++) {
      const answers = await Promise.all(
        ["one", "other"].map((name) =>
          sendUntilDone(() => api.post("/v1/events", eventNamed(name), keyed(`k${turn}`))),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 409]);
    }
    expect((await api.get("/v1/events?filter[type]=order.completed")).body.data).toHaveLength(20);
  });

  test("a repeat shows the event as it was, although its profile was merged since", async () => {
    const api = await daybook().newProperty();
    const [{ profile }, { profile: source }] = [await newProfile(api, "eve"), await newProfile(api, "kim")];
    const order = { type: "order.completed", profile_id: source, properties: { a: 1.5 }, dedupe_id: "once" };
    const priced = { ...order, value: "0012.50", currency: "eur", occurred_at: "2026-02-03T04:05:06.789012+01:00" };
    const done = await api.post("/v1/events", priced, keyed("k"));
    expect([done.status, done.body.data.profile_id]).toEqual([201, source]);
    expect((await api.post(`/v1/profiles/${profile}/merge`, { source_profile_id: source })).status).toBe(200);
    const again = await api.post("/v1/events", priced, keyed("k"));
    expect([replayedOf(again), withoutId(again)]).toEqual(["true", withoutId(done)]);
  });

  test("keys belong to their property", async () => {
    const [one, other] = [await daybook().newProperty(), await daybook().newProperty()];
    const answers = await Promise.all([one, other].map((api) => api.post("/v1/events", event("ada"), keyed("same"))));
    expect(answers.map((answer) => [answer.status, replayedOf(answer)])).toEqual([
      [201, "false"],
      [201, "false"],
    ]);
    expect(answers[0]?.body.data.id).not.toBe(answers[1]?.body.data.id);
  });

  test("all keys of a property share them, but one that may not see identifiers is not shown them", async () => {
    const api = await daybook().newProperty();
    const { profile } = await newProfile(api, "eve");
    const path = `/v1/profiles/${profile}/identifiers`;
    const done = await api.post(path, email("eve.two"), keyed("k"));
    expect(done.body.data.value).toBe("eve.two@example.com");
    const equal = await api.withScopes(["identifiers:write", "identifiers:read_value"]);
    expect(withoutId(await equal.post(path, email("eve.two"), keyed("k")))).toEqual(withoutId(done));
    const blind = await api.withScopes(["identifiers:write"]);
    const masked = await blind.post(path, email("eve.two"), keyed("k"));
    expect([masked.status, replayedOf(masked)]).toEqual([201, "true"]);
    const { value: _value, ...shown } = done.body.data;
    expect(masked.body.data).toEqual(shown);
    // The other way round: the first key may not see what a later one may.
    const first = await blind.post(path, email("eve.three"), keyed("l"));
    expect([first.status, first.text.includes("eve.three")]).toEqual([201, false]);
    expect((await api.post(path, email("eve.three"), keyed("l"))).body.data.value).toBe("eve.three@example.com");
    const none = await api.withScopes(["events:read"]);
    expect((await none.post(path, email("eve.two"), keyed("k"))).body.error.code).toBe("missing_scope");
  });

  test("a refusal that did nothing leaves the key free", async () => {
    const api = await daybook().newProperty();
    for (const body of [{}, "{", { ...event("ada"), type: "sms.sent" }, { ...event("ada"), properties: [] }]) {
      const refused = await api.post("/v1/events", body, keyed("k"));
      expect([refused.status, replayedOf(refused)]).toEqual([400, "false"]);
    }
    const done = await api.post("/v1/events", event("ada"), keyed("k"));
    expect([done.status, replayedOf(done)]).toEqual([201, "false"]);
    const conflict = await api.post("/v1/profiles", { identifiers: [email("ada")] }, keyed("p"));
    expect(conflict.status).toBe(409);
    expect((await api.post("/v1/profiles", { identifiers: [email("bob")] }, keyed("p"))).status).toBe(201);
  });

  test.each(["", " ", "a b", "x".repeat(256), "clé", "a\tb", "key, key"])("%j is no key", async (key) => {
    const api = await daybook().newProperty();
    // fetch trims what stands around it.
    const { status, body } = await api.post("/v1/events", event("ada"), keyed(key));
    expect([status, body.error.code, body.error.param]).toEqual([400, "parameter_invalid", "Idempotency-Key"]);
    expect((await api.get("/v1/events")).body.data).toEqual([]);
  });

  test.each(["a", "x".repeat(255), "!~", '{"a":1}', "../../etc", "'; DROP TABLE operations; --".replaceAll(" ", "")])(
    "%j is a key",
    async (key) => {
      const api = await daybook().newProperty();
      const answers = [1, 2].map(() => sendUntilDone(() => api.post("/v1/events", event("ada"), keyed(key))));
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([201, 201]);
      expect((await api.get("/v1/events?filter[type]=order.completed")).body.data).toHaveLength(1);
    },
  );

  test("what changes nothing needs no key and heeds none", async () => {
    const api = await daybook().newProperty();
    const question = { metric: "profile.created", from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z" };
    for (const answer of [
      await api.get("/v1/events", keyed("a b")),
      await api.post("/v1/metric-aggregates", question, keyed("a b")),
    ]) {
      expect(answer.body.error?.param).not.toBe("Idempotency-Key");
      expect(replayedOf(answer)).toBeNull();
    }
  });

  test("whatever a write is refused with, the answer says that it is no replay", async () => {
    const api = await daybook().newProperty();
    const stranger = createApi(daybook().baseUrl);
    for (const answer of [
      await api.post("/v1/events", event("ada")),
      await api.post("/v1/events", "{"),
      await api.post("/v1/events", "x", { headers: { "content-type": "text/plain" } }),
      await stranger.post("/v1/events", event("ada")),
    ]) {
      expect(replayedOf(answer)).toBe("false");
    }
  });

  test("a replay is answered in the revision of the first answer", async () => {
    const api = await daybook().newProperty();
    const done = await api.post("/v1/events", event("ada"), keyed("k"));
    const headers = { "idempotency-key": "k", "service-version": "2026-05-01" };
    const again = await api.post("/v1/events", event("ada"), { headers });
    expect(withoutId(again)).toEqual(withoutId(done));
    expect(again.headers.get("service-version")).toBe("2026-11-01");
  });
});

// Of a window this small, one of several workers may hold what another needs.
describeOnMesh("Idempotency-Key", (daybook) => {
  test("a replay counts as a request, in the window that the body says", async () => {
    const api = await daybook().newProperty({ rateLimits: { ordinary: 1000, backfill: 3 } });
    const body = { events: [event("ada")], backfill: true };
    const answers = [];
    for (let count = 0; count < 4; count++) answers.push(await api.post("/v1/events/batch", body, keyed("k")));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers.map(({ headers }) => headers.get("ratelimit-limit"))).toEqual(["3", "3", "3", "3"]);
  });
});

describe("an operation", () => {
  // A clock that the tests put forward.
  let ahead = 0;
  const clock = { nowMicros: () => systemClock.nowMicros() + ahead };
  const seconds = (count: number): void => {
    ahead += count * 1_000_000;
  };
  const owner = new Owner();
  let daybook: SingleProcess;
  let other: Api;
  let api: TestProperty;
  beforeAll(async () => {
    daybook = await startSingleProcess(owner, { clock });
    api = await daybook.newProperty();
    const app = await createGateway({
      clients: daybook.clients,
      clock,
      log: createLog("test", "silent"),
      registry: createRegistry(),
      limits: { ordinary: 100_000, backfill: 100_000 },
      secret: singleProcessToken,
    });
    owner.defer(() => app.close());
    other = createApi(await app.listen({ port: 0 }), api.secret);
  });
  afterAll(() => owner.close());

  const claimOf = (key: string): { propertyId: string; key: string; fingerprint: Uint8Array } => ({
    propertyId: api.propertyId,
    key,
    fingerprint: new Uint8Array(32),
  });
  async function claim(...keys: string[]): Promise<(string | undefined)[]> {
    const { outcomes } = await daybook.clients.identity.claimOperations({ claims: keys.map(claimOf) }, testCall);
    return outcomes.map(({ outcome }) =>
      outcome.case === "claimed" ? `${outcome.value.operationId} ${outcome.value.attempt}` : outcome.case,
    );
  }
  function held(key: string, claimed: string | undefined) {
    const [operationId = "", attempt = ""] = claimed?.split(" ") ?? [];
    return { propertyId: api.propertyId, key, operationId, attempt: Number(attempt) };
  }

  test("is shared by gateways", async () => {
    const ways = [api, other];
    const raced = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        sendUntilDone(() => (ways[index % 2] as Api).post("/v1/events", event("ada"), keyed("two-gateways"))),
      ),
    );
    expect(new Set(raced.map(({ body }) => body.data.id)).size).toBe(1);
  });

  test("lasts 24 hours", async () => {
    const first = await api.post("/v1/events", event("old"), keyed("a-day"));
    seconds(24 * 60 * 60 - 1);
    expect((await api.post("/v1/events", event("old"), keyed("a-day"))).body.data.id).toBe(first.body.data.id);
    seconds(1);
    const next = await api.post("/v1/events", event("old"), keyed("a-day"));
    expect([next.status, replayedOf(next)]).toEqual([201, "false"]);
    expect(next.body.data.id).not.toBe(first.body.data.id);
    // Another request may have the key then.
    seconds(24 * 60 * 60);
    expect((await api.post("/v1/events", event("new"), keyed("a-day"))).status).toBe(201);
  });

  test("is taken over, with the same id, when nobody is at it for 3 seconds", async () => {
    const [first] = await claim("cut");
    expect(await claim("cut")).toEqual(["underWay"]);
    seconds(2);
    await daybook.clients.identity.renewOperations({ operations: [held("cut", first)] }, testCall);
    seconds(2);
    expect(await claim("cut")).toEqual(["underWay"]);
    seconds(1);
    const [second] = await claim("cut");
    expect([first, second]).toEqual([`${held("cut", first).operationId} 1`, `${held("cut", first).operationId} 2`]);
    // Whoever had it before has no say any more.
    const gone = { operation: held("cut", first), outcome: { case: "refused" as const, value: {} } };
    await daybook.clients.identity.finishOperations({ operations: [gone] }, testCall);
    await daybook.clients.identity.renewOperations({ operations: [held("cut", first)] }, testCall);
    expect(await claim("cut")).toEqual(["underWay"]);
    // What was begun twice may have been done, so a refusal does not free the key for another request.
    const refused = { operation: held("cut", second), outcome: { case: "refused" as const, value: {} } };
    await daybook.clients.identity.finishOperations({ operations: [refused] }, testCall);
    const different = { ...claimOf("cut"), fingerprint: new Uint8Array(32).fill(1) };
    const { outcomes } = await daybook.clients.identity.claimOperations({ claims: [different] }, testCall);
    expect(outcomes[0]?.outcome.case).toBe("reused");
    expect(await claim("cut")).toEqual([`${held("cut", first).operationId} 3`]);
  });

  test("of two attempts that finish in one call the one counts that has it", async () => {
    for (const isLast of [true, false]) {
      const key = `two-${isLast}`;
      const [first] = await claim(key);
      seconds(3);
      const [second] = await claim(key);
      const gone = { operation: held(key, first), outcome: { case: "refused" as const, value: {} } };
      const answer = { status: 201, headers: {}, body: "{}", requestId: "req_x" };
      const has = { operation: held(key, second), outcome: { case: "answer" as const, value: answer } };
      const operations = isLast ? [gone, has] : [has, gone];
      const { counts } = await daybook.clients.identity.finishOperations({ operations }, testCall);
      expect(counts).toEqual(isLast ? [false, true] : [true, false]);
      expect(await claim(key)).toEqual(["answer"]);
    }
  });

  test("whose answer is forgotten while it is claimed is not under way", async () => {
    const { identity } = daybook.clients;
    const { profile } = await newProfile(api, "forgotten");
    const ids = [profile ?? ""];
    const answer = { status: 200, headers: {}, body: JSON.stringify({ ids }), requestId: "req_x" };
    const seen = new Set<string | undefined>();
    for (let turn = 0; turn < 300; turn++) {
      const key = `forgotten-${turn}`;
      const [first] = await claim(key);
      const outcome = { case: "answer" as const, value: answer };
      await identity.finishOperations({ operations: [{ operation: held(key, first), outcome }] }, testCall);
      // Whichever wins the race on this machine, each of the two is first now and then.
      const claimed = turn % 10 === 0 ? await claim(key) : undefined;
      const forgetting = identity.forgetAnswers({ propertyId: api.propertyId, ids }, testCall);
      if (turn % 10 === 1) await forgetting;
      const [[second]] = await Promise.all([claimed ?? claim(key), forgetting]);
      seen.add(second?.replace(/^op_\w+/, "op"));
    }
    expect(seen).toEqual(new Set(["answer", "op 2"]));
  });

  test("that was taken over gives no answer but the one that is kept", async () => {
    const { profile } = await newProfile(api, "slow");
    const send = (to: Api): Promise<Answer> =>
      to.patch(`/v1/profiles/${profile}`, { attributes: { a: 1 } }, keyed("slow"));
    const answers: Promise<Answer>[] = [];
    const blocking = new pg.Client(daybook.databaseUrl);
    await blocking.connect();
    try {
      await blocking.query("BEGIN; LOCK TABLE profile.profiles IN EXCLUSIVE MODE");
      answers.push(send(api));
      await eventually(async () => ((await send(api)).status === 409 ? true : undefined));
      // As if its gateway had been at a standstill: nobody renews it in time.
      await eventually(async () => {
        seconds(4);
        const next = send(other);
        const isAtIt = await Promise.race([next.then(() => false), sleep(1_000, true)]);
        if (isAtIt) answers.push(next);
        return isAtIt || undefined;
      });
      await blocking.query("COMMIT");
    } finally {
      await blocking.end();
    }
    const [first, second] = await Promise.all(answers);
    expect([first?.status, first?.body.error?.code]).toEqual([409, "idempotency_key_in_use"]);
    expect(second?.status).toBe(200);
    expect(withoutId(await send(api))).toEqual(withoutId(second as Answer));
  });

  test("is claimed by one of those who claim it in one call, and each of many claims has its outcome", async () => {
    const [done] = await claim("done");
    const answer = { status: 201, headers: { location: "/x" }, body: "{}", requestId: "req_x" };
    const outcome = { case: "answer" as const, value: answer };
    await daybook.clients.identity.finishOperations(
      { operations: [{ operation: held("done", done), outcome }] },
      testCall,
    );
    const outcomes = await claim("new", "done", "new", "done", "other", "new");
    expect(outcomes.map((text) => text?.replace(/^op_\w+/, "op"))).toEqual([
      "op 1",
      "answer",
      "underWay",
      "answer",
      "op 1",
      "underWay",
    ]);
  });
});
