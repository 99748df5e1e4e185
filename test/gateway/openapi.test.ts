/** The OpenAPI document: valid, complete, and true of what is answered. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, expect, test } from "vitest";
import { installApp } from "../support/apps.ts";
import { describeOnce, type TestProperty } from "../support/daybook.ts";
import { readOpenApi, type OpenApi } from "../support/openapi.ts";
import { newEmail, newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";

describeOnce("the OpenAPI document", (daybook) => {
  let openApi: OpenApi;
  let api: TestProperty;
  beforeAll(async () => {
    api = await daybook().newProperty();
    openApi = await readOpenApi(api);
  });
  const operationAt: OpenApi["operationAt"] = (method, path) => openApi.operationAt(method, path);

  test("is valid, as an independent validator sees it", async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(openApi.text) as Record<string, unknown>);
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  test("describes every operation, each under a name of its own", () => {
    const described = openApi.operations.map(({ method, path, operationId }) => `${method} ${path} ${operationId}`);
    expect(described.toSorted()).toEqual([
      "DELETE /v1/profiles/{id}/identifiers/{identifier_id} removeIdentifier",
      "DELETE /v1/suppressions/{id} removeSuppression",
      "DELETE /v1/webhook-endpoints/{id} deleteWebhookEndpoint",
      "GET /v1/account getAccount",
      "GET /v1/apps listApps",
      "GET /v1/apps/{id} getApp",
      "GET /v1/events listEvents",
      "GET /v1/events/{id} getEvent",
      "GET /v1/installations listInstallations",
      "GET /v1/installations/{id} getInstallation",
      "GET /v1/metrics listMetrics",
      "GET /v1/metrics/{id} getMetric",
      "GET /v1/privacy-requests listPrivacyRequests",
      "GET /v1/privacy-requests/{id} getPrivacyRequest",
      "GET /v1/privacy-requests/{id}/download downloadPrivacyRequest",
      "GET /v1/profiles listProfiles",
      "GET /v1/profiles/{id} getProfile",
      "GET /v1/profiles/{id}/identifiers listIdentifiers",
      "GET /v1/profiles/{id}/identifiers/{identifier_id} getIdentifier",
      "GET /v1/rejected-writes listRejectedWrites",
      "GET /v1/rejected-writes/summary summarizeRejectedWrites",
      "GET /v1/rejected-writes/{id} getRejectedWrite",
      "GET /v1/revisions listRevisions",
      "GET /v1/schemas listSchemas",
      "GET /v1/suppressions listSuppressions",
      "GET /v1/webhook-deliveries listWebhookDeliveries",
      "GET /v1/webhook-deliveries/{id} getWebhookDelivery",
      "GET /v1/webhook-endpoints listWebhookEndpoints",
      "GET /v1/webhook-endpoints/{id} getWebhookEndpoint",
      "GET /v1/webhook-types listWebhookTypes",
      "PATCH /v1/metrics/{id} updateMetric",
      "PATCH /v1/profiles/{id} updateProfile",
      "PATCH /v1/profiles/{id}/identifiers/{identifier_id} updateIdentifier",
      "PATCH /v1/webhook-endpoints/{id} updateWebhookEndpoint",
      "POST /v1/events createEvent",
      "POST /v1/events/batch createEvents",
      "POST /v1/metric-aggregates aggregateMetric",
      "POST /v1/metrics createMetric",
      "POST /v1/privacy-requests createPrivacyRequest",
      "POST /v1/privacy-requests/batch createPrivacyRequests",
      "POST /v1/privacy-requests/{id}/cancel cancelPrivacyRequest",
      "POST /v1/privacy-requests/{id}/retry retryPrivacyRequest",
      "POST /v1/profiles createProfile",
      "POST /v1/profiles/batch upsertProfiles",
      "POST /v1/profiles/upsert upsertProfile",
      "POST /v1/profiles/{id}/identifiers addIdentifier",
      "POST /v1/profiles/{id}/merge mergeProfiles",
      "POST /v1/webhook-deliveries/{id}/retry retryWebhookDelivery",
      "POST /v1/webhook-endpoints createWebhookEndpoint",
      "POST /v1/webhook-endpoints/{id}/replay replayWebhooks",
      "POST /v1/webhook-endpoints/{id}/rotate-secret rotateWebhookSecret",
      "POST /v1/webhook-endpoints/{id}/test testWebhookEndpoint",
    ]);
  });

  test("says what is answered, in good times and in bad", async () => {
    const email = newEmail();
    const person = await newProfile(api, {
      identifiers: [email, newEmail()],
      attributes: { a: 1 },
      location: { city: "x" },
    });
    const other = await newProfile(api);
    const event = (
      await api.post("/v1/events", { type: "a.b", identifier: email, properties: {}, value: "1", currency: "EUR" })
    ).body.data;
    const ofProfile = "/v1/profiles/{id}";
    const ofIdentifier = `${ofProfile}/identifiers/{identifier_id}`;
    const identifier = `${person.path}/identifiers/${person.identifier_ids[0]}`;
    const good = { type: "a.b", identifier: email, properties: {}, dedupe_id: "d" };
    const metric = (await api.post("/v1/metrics", { name: "e.f" })).body.data;
    const ended = await installApp(daybook(), api.propertyId);
    await ended.end();
    const installation = await installApp(daybook(), api.propertyId);
    const day = { from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" };
    const all = ["count", "sum_value", "unique_profiles"];
    const calls: [string, string, string, unknown?][] = [
      ["GET", "/v1/profiles", "/v1/profiles?expand=identifiers&page[limit]=1"],
      ["GET", "/v1/profiles", "/v1/profiles?sort=x"],
      ["POST", "/v1/profiles", "/v1/profiles", { identifiers: [newEmail()] }],
      ["POST", "/v1/profiles", "/v1/profiles", { identifiers: [email] }],
      [
        "POST",
        "/v1/profiles",
        "/v1/profiles",
        {
          identifiers: [
            { type: "phone", value: "1" },
            { type: "email", value: "1" },
          ],
        },
      ],
      ["POST", "/v1/profiles", "/v1/profiles", "{"],
      ["POST", "/v1/profiles/upsert", "/v1/profiles/upsert", { identifiers: [email] }],
      ["POST", "/v1/profiles/upsert", "/v1/profiles/upsert", { identifiers: { email: newEmail().value } }],
      ["POST", "/v1/profiles/batch", "/v1/profiles/batch", { profiles: [{ identifiers: [email] }, {}] }],
      ["GET", ofProfile, `${person.path}?expand=identifiers`],
      ["GET", ofProfile, "/v1/profiles/prof_01h00000000000000000000000"],
      ["PATCH", ofProfile, person.path, { attribute_operations: [{ op: "set", path: "b", value: 2 }], location: null }],
      ["PATCH", ofProfile, person.path, { attribute_operations: [{ op: "append_unique", path: "b", value: 2 }] }],
      ["GET", `${ofProfile}/identifiers`, `${person.path}/identifiers`],
      ["POST", `${ofProfile}/identifiers`, `${person.path}/identifiers`, newEmail()],
      ["GET", ofIdentifier, identifier],
      ["PATCH", ofIdentifier, identifier, { is_primary: true }],
      ["DELETE", ofIdentifier, `${other.path}/identifiers/${other.identifier_ids[0]}`],
      ["DELETE", ofIdentifier, identifier],
      ["POST", `${ofProfile}/merge`, `${person.path}/merge`, { source_profile_id: other.id }],
      ["POST", `${ofProfile}/merge`, `${person.path}/merge`, { source_profile_id: other.id }],
      ["GET", ofProfile, other.path],
      ["GET", ofProfile, `${other.path}?resolve=false`],
      ["POST", "/v1/events", "/v1/events", good],
      ["POST", "/v1/events", "/v1/events", good],
      ["POST", "/v1/events", "/v1/events", {}],
      ["POST", "/v1/events/batch", "/v1/events/batch", { events: [good, {}] }],
      ["GET", "/v1/events", "/v1/events?expand=profile,metric"],
      ["GET", "/v1/events/{id}", `/v1/events/${event.id}?expand=profile,metric`],
      ["GET", "/v1/metrics", "/v1/metrics"],
      ["GET", "/v1/metrics/{id}", "/v1/metrics/x"],
      [
        "POST",
        "/v1/metric-aggregates",
        "/v1/metric-aggregates",
        { metric: "e.f", measurements: all, interval: "day", ...day },
      ],
      ["POST", "/v1/metric-aggregates", "/v1/metric-aggregates", { metric: "e.f", group_by: ["properties.a"], ...day }],
      ["POST", "/v1/metric-aggregates", "/v1/metric-aggregates", { metric: "none", ...day }],
      ["POST", "/v1/metric-aggregates", "/v1/metric-aggregates", { ...day }],
      ["GET", "/v1/schemas", "/v1/schemas"],
      ["GET", "/v1/schemas", "/v1/schemas?filter[resource]=x"],
      ["POST", "/v1/metrics", "/v1/metrics", { name: "c.d", description: "x" }],
      ["POST", "/v1/metrics", "/v1/metrics", { name: "c.d" }],
      ["POST", "/v1/metrics", "/v1/metrics", { name: "profile.seen" }],
      ["PATCH", "/v1/metrics/{id}", `/v1/metrics/${metric.id}`, { description: null }],
      ["PATCH", "/v1/metrics/{id}", "/v1/metrics/mtr_01h00000000000000000000000", { description: "x" }],
      ["GET", "/v1/account", "/v1/account"],
      ["GET", "/v1/apps", "/v1/apps"],
      ["GET", "/v1/apps/{id}", `/v1/apps/${installation.appId}`],
      ["GET", "/v1/apps/{id}", "/v1/apps/app_01h00000000000000000000000"],
      ["GET", "/v1/installations", "/v1/installations"],
      ["GET", "/v1/installations", "/v1/installations?sort=created_at"],
      ["GET", "/v1/installations/{id}", `/v1/installations/${installation.installationId}`],
      ["GET", "/v1/installations/{id}", "/v1/installations/inst_01h00000000000000000000000"],
      ["GET", "/v1/revisions", "/v1/revisions"],
      ["GET", "/v1/revisions", "/v1/revisions?page[after]=x"],
    ];
    for (const [method, described, path, body] of calls) {
      const send = method === "PATCH" ? api.patch : api.post;
      const answer = body === undefined ? await api.request(method, path) : await send(path, body);
      openApi.expectDescribed(answer, operationAt(method, described));
    }
    const token = await installation.newToken();
    for (const path of ["/v1/account", "/v1/apps", "/v1/installations"]) {
      openApi.expectDescribed(await token.get(path), operationAt("GET", path));
    }
    const poor = await api.withScopes(["accounts:read"]);
    openApi.expectDescribed(await poor.get("/v1/profiles"), operationAt("GET", "/v1/profiles"));
    expect(operationAt("GET", "/v1/revisions").responses[403]).toBeUndefined();
    const busy = await daybook().newProperty({ rateLimits: { ordinary: 1 } });
    const refused = await eventually(async () => {
      const answer = await busy.get("/v1/account");
      return answer.status === 429 ? answer : undefined;
    });
    openApi.expectDescribed(refused, operationAt("GET", "/v1/account"));
    const stale = await api.patch(person.path, { attributes: { a: 1 } }, { headers: { "if-match": '"v1"' } });
    expect(stale.status).toBe(412);
    openApi.expectDescribed(stale, operationAt("PATCH", ofProfile));
  });

  test("takes the bodies that it describes, and describes no others", () => {
    const validate = (path: string) => openApi.compile(operationAt("POST", path).body?.schema ?? {});
    const upsert = validate("/v1/profiles/upsert");
    expect(
      upsert({ identifiers: [newEmail()], attribute_operations: [{ op: "set", path: ["a", "b"], value: 1 }] }),
    ).toBe(true);
    expect(upsert({ identifiers: { email: "a@b.c" } })).toBe(true);
    expect(upsert({ identifiers: [] })).toBe(false);
    expect(upsert({ identifiers: [newEmail()], tags: [] })).toBe(false);
    const batch = validate("/v1/events/batch");
    expect(batch({ events: [{ type: "a", properties: {}, client_reference: "x" }] })).toBe(true);
    expect(batch({ events: [{ type: "a", properties: {}, colour: "x" }] })).toBe(false);
  });

  test("names the parameters of lists", () => {
    const names = operationAt("GET", "/v1/profiles").parameters.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        "filter[email]",
        "filter[created_at][gte]",
        "sort",
        "expand",
        "page[limit]",
        "page[after]",
      ]),
    );
    expect(operationAt("PATCH", "/v1/profiles/{id}").parameters.map(({ name }) => name)).toContain("If-Match");
  });
});
