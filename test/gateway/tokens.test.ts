/** Access tokens of apps: accepted wherever a key is, with the same answers and limits. */
import { afterAll, describe, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { scopes as allScopes } from "../../services/identity/domain/scopes.ts";
import { createApi, type Answer, type Api } from "../support/api.ts";
import { installApp, newApp, newToken, randomToken } from "../support/apps.ts";
import { describeEverywhere, describeOnce, startSingleProcess, testCall } from "../support/daybook.ts";
import { fillPath, readOpenApi } from "../support/openapi.ts";
import { newEmail } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import { openWire } from "../support/wire.ts";

/** An answer without what is of one request. */
const comparable = ({ status, headers, text }: Answer): unknown => [
  status,
  headers.get("www-authenticate"),
  // Errors of the compatibility surface have ids of their own.
  text.replaceAll(/req_\w{26}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, ""),
];

describeEverywhere("an access token", (daybook) => {
  test("opens what a key opens, by the schemes of each surface", async () => {
    const { propertyId } = await daybook().newProperty();
    const installation = await installApp(daybook(), propertyId);
    const random = randomToken();
    const tokens = [
      random,
      // By chance a token begins as something else does.
      `pk_${random.slice(3)}`,
      `sk_test_${random.slice(9)}-`,
      "-".repeat(10) + random.slice(10),
    ];
    for (const token of tokens) {
      await installation.newToken({ token });
      for (const [path, authorization, status] of [
        ["/v1/account", `Bearer ${token}`, 200],
        ["/v1/account", `bearer  ${token}`, 200],
        ["/v1/account", `Compat-API-Key ${token}`, 401],
        ["/v1/account", `Bearer pk_${token}`, 401],
        ["/api/accounts", `Bearer ${token}`, 200],
        ["/accounts", `Bearer ${token}`, 200],
        ["/api/accounts", `Compat-API-Key ${token}`, 200],
        ["/api/accounts", `Klaviyo-API-Key ${token}`, 200],
        ["/api/accounts", `Klaviyo-API-Key pk_${token}`, 200],
        ["/api/accounts", `Klaviyo-API-Key pk_pk_${token}`, 401],
        ["/api/accounts", `Basic ${token}`, 401],
      ] as const) {
        const answer = await createApi(daybook().baseUrl).get(path, { headers: { authorization } });
        expect([path, authorization, answer.status]).toEqual([path, authorization, status]);
      }
    }
  });

  test("records and reads in its property", async () => {
    const property = await daybook().newProperty();
    const token = await newToken(daybook(), property.propertyId);
    const event = { type: "order.completed", identifier: newEmail(), properties: {} };
    const { status, body } = await token.post("/v1/events", event);
    expect([status, body.meta.livemode]).toEqual([201, false]);
    expect((await property.get(`/v1/events/${body.data.id}`)).body.data.id).toBe(body.data.id);
    const compat = await token.get(`/api/events/${body.data.id}`);
    expect([compat.status, compat.body.data.id]).toEqual([200, body.data.id]);
    const { data } = (await token.get("/api/accounts")).body;
    expect(data.map(({ id }: { id: string }) => id)).toEqual([property.propertyId]);
    expect((await token.get(`/api/accounts/${property.propertyId}`)).body.data.id).toBe(property.propertyId);
  });
});

describeOnce("an access token", (daybook) => {
  test.each([
    ["as it was consented to", ["events:read", "metrics:read"], undefined, ["events:read", "metrics:read"]],
    ["asked for with fewer", ["events:read", "metrics:read"], ["metrics:read"], ["metrics:read"]],
    ["asked for with more than was consented to", ["events:read"], ["events:read", "metrics:read"], ["events:read"]],
    ["asked for with others", ["events:read"], ["metrics:read"], []],
  ] as const)("may do what its consent and itself allow: %s", async (_name, consented, asked, allowed) => {
    const { propertyId } = await daybook().newProperty();
    const appId = await newApp(daybook(), ["accounts:read", "events:read", "metrics:read", "profiles:read"]);
    const scopes = ["accounts:read", ...consented];
    const installation = await installApp(daybook(), propertyId, { appId, scopes });
    const token = await installation.newToken(asked && { scopes: ["accounts:read", ...asked] });
    for (const [path, scope] of [
      ["/v1/events", "events:read"],
      ["/v1/metrics", "metrics:read"],
      ["/v1/profiles", "profiles:read"],
      ["/api/metrics", "metrics:read"],
      ["/api/profiles", "profiles:read"],
    ] as const) {
      const { status } = await token.get(path);
      expect([path, status]).toEqual([path, (allowed as readonly string[]).includes(scope) ? 200 : 403]);
    }
    const { installation: shown } = (await token.get("/v1/account")).body.data;
    expect(shown.scopes.toSorted()).toEqual(["accounts:read", ...allowed]);
  });

  test("keeps what was consented to when its app may have less, and a new consent replaces it", async () => {
    const { propertyId } = await daybook().newProperty();
    const appId = await newApp(daybook(), ["events:read", "metrics:read"]);
    const first = await installApp(daybook(), propertyId, { appId, scopes: ["events:read", "metrics:read"] });
    const before = await first.newToken();
    await daybook().clients.apps.updateApp({ appId, scopes: ["metrics:read"] }, testCall);
    expect((await before.get("/v1/events")).status).toBe(200);
    const second = await installApp(daybook(), propertyId, { appId, scopes: ["metrics:read"] });
    expect(second.installationId).toBe(first.installationId);
    const after = await second.newToken();
    expect([(await after.get("/v1/events")).status, (await after.get("/v1/metrics")).status]).toEqual([403, 200]);
    await eventually(async () => ((await before.get("/v1/metrics")).status === 401 ? true : undefined));
  });

  test("without the scope of an operation is refused with the bytes that a key gets, on both surfaces", async () => {
    const property = await daybook().newProperty();
    const key = await property.withScopes(["segments:read"]);
    const token = await newToken(daybook(), property.propertyId, ["segments:read"]);
    const { operations, compat } = await readOpenApi(property);
    for (const operation of [...operations, ...compat]) {
      const { operationId, method, path } = operation;
      const filled = fillPath(operation);
      const [ofKey, ofToken] = [await key.request(method, filled), await token.request(method, filled)];
      // Webhooks ask for the scopes of types only, and show what the caller may read.
      if (!path.startsWith("/v1/webhook-"))
        expect([operationId, ofKey.status]).toEqual([operationId, path === "/v1/revisions" ? 200 : 403]);
      expect([operationId, comparable(ofToken)]).toEqual([operationId, comparable(ofKey)]);
    }
  });

  test("is answered under an Idempotency-Key as any other caller of the property, and nobody else is", async () => {
    const property = await daybook().newProperty();
    const installation = await installApp(daybook(), property.propertyId);
    const callers: Api[] = [
      await installation.newToken(),
      // The same installation after a refresh, another app, and a key.
      await installation.newToken(),
      await newToken(daybook(), property.propertyId),
      property,
    ];
    const send = (api: Api): Promise<Answer> =>
      api.post(
        "/v1/events",
        { type: "order.completed", identifier: { type: "email", value: "ada@example.com" }, properties: {} },
        { headers: { "idempotency-key": "the-order" } },
      );
    const answers = await Promise.all(
      callers.map((api) =>
        eventually(async () => {
          const answer = await send(api);
          return answer.body.error?.code === "idempotency_key_in_use" ? undefined : answer;
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get("idempotency-replayed") === "false")).toHaveLength(1);
    const blind = await newToken(
      daybook(),
      property.propertyId,
      allScopes.filter((scope) => scope !== "events:write"),
    );
    expect((await send(blind)).status).toBe(403);
    const stranger = await send(await newToken(daybook(), (await daybook().newProperty()).propertyId));
    expect([stranger.status, stranger.headers.get("idempotency-replayed")]).toEqual([201, "false"]);
    expect(stranger.body.data.id).not.toBe(answers[0]?.body.data.id);
  });

  test("tells when its installation was last used, and not when another was", async () => {
    const property = await daybook().newProperty();
    const { propertyId } = property;
    const [used, unused] = [await installApp(daybook(), propertyId), await installApp(daybook(), propertyId)];
    const before = Date.now();
    const token = await used.newToken();
    const { installation } = await eventually(async () => {
      const { data } = (await token.get("/v1/account")).body;
      return data.installation.last_used_at === null ? undefined : data;
    });
    expect(Date.parse(installation.last_used_at)).toBeGreaterThanOrEqual(before - 1);
    expect(Date.parse(installation.last_used_at)).toBeLessThanOrEqual(Date.now());
    const { data } = (await property.get("/v1/installations")).body;
    expect(data.map((shown: typeof installation) => [shown.id, shown.last_used_at])).toEqual([
      [used.installationId, installation.last_used_at],
      [unused.installationId, null],
    ]);
  });

  test.each([
    ["a tab before it", (token: string) => Buffer.from(`Bearer \t${token}`), 401],
    ["a space behind it, which HTTP takes away", (token: string) => Buffer.from(`Bearer ${token} `), 200],
    ["a bare line feed behind it", (token: string) => Buffer.from(`Bearer ${token}\n`), 400],
    ["a carriage return in it", (token: string) => Buffer.from(`Bearer ${token.slice(1)}\r`), 400],
    ["U+0000 in it", (token: string) => Buffer.from(`Bearer ${token.slice(1)}\0`), 400],
    ["a wide letter in it", (token: string) => Buffer.from(`Bearer ${token.slice(1)}\uff41`), 401],
    ["a combining mark behind it", (token: string) => Buffer.from(`Bearer ${token}\u0301`), 401],
  ])("is not read with %s", async (_name, header, status) => {
    const { propertyId } = await daybook().newProperty();
    const { token } = await newToken(daybook(), propertyId);
    const wire = await openWire(daybook().baseUrl);
    wire.write("GET /v1/account HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ");
    wire.write(header(token));
    wire.write("\r\n\r\n");
    expect((await wire.answers(1))[0]?.status).toBe(status);
    wire.end();
  });
});

describe("the rate windows of an installation", () => {
  const limit = 200;
  const now = Date.UTC(2030, 0, 1, 0, 0, 30) * 1000;
  const clock = { nowMicros: () => now };
  const expiresAtMs = now / 1000 + 3_600_000;
  const owner = new Owner();
  afterAll(() => owner.close());

  const statusesOf = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status);
  const admitted = (answers: readonly Answer[]): number => {
    expect(statusesOf(answers).filter((status) => status !== 200 && status !== 429)).toEqual([]);
    return answers.filter(({ status }) => status === 200).length;
  };

  test("are one for twenty tokens on two gateways, and not that of a key or of another installation", async () => {
    const limits = { ordinary: limit, backfill: limit / 10 };
    const first = await startSingleProcess(owner, { clock, limits });
    const second = await startSingleProcess(owner, { clock, limits, databaseUrl: first.databaseUrl });
    const property = await first.newProperty();
    const installation = await installApp(first, property.propertyId);
    const clients: Api[] = [];
    for (let count = 0; count < 20; count++) {
      const { token } = await installation.newToken({ expiresAtMs });
      clients.push(createApi((count % 2 === 0 ? first : second).baseUrl, token));
    }
    const ask = (api: Api): Promise<Answer> => api.get("/v1/revisions");
    const answers = await Promise.all(clients.flatMap((api) => Array.from({ length: limit / 10 }, () => ask(api))));
    // What a gateway has leased and not used is missing to the other until it is given back.
    const more: Answer[] = [];
    await eventually(
      async () => {
        more.push(...(await Promise.all(clients.map(ask))));
        return admitted([...answers, ...more]) === limit ? true : undefined;
      },
      { explain: () => `${admitted([...answers, ...more])} requests were admitted` },
    );
    expect(new Set(statusesOf(await Promise.all(clients.map(ask))))).toEqual(new Set([429]));
    for (const { headers } of answers) expect(headers.get("ratelimit-limit")).toBe(String(limit));
    // Of no event, because there is no partition yet for the time of this clock.
    const batch = { backfill: true, events: [{}] };
    const batches = await Promise.all(clients.map((api) => api.post("/v1/events/batch", batch)));
    expect(admitted(batches)).toBeGreaterThan(0);
    expect(batches.every(({ headers }) => headers.get("ratelimit-limit") === String(limit / 10))).toBe(true);
    const other = await (await installApp(first, property.propertyId)).newToken({ expiresAtMs });
    expect(statusesOf([await ask(property), await ask(other)])).toEqual([200, 200]);
    expect((await ask(other)).headers.get("ratelimit-remaining")).toBe(String(limit - 2));
  });
});
