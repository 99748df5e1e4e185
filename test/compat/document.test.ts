/** The compatibility surface in the OpenAPI document: complete, and true of what is answered, whatever is sent. */
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { exampleIds } from "../../gateway/docs/example-ids.ts";
import { createApi, type Answer } from "../support/api.ts";
import { describeOnce, type TestProperty } from "../support/daybook.ts";
import { breakages, valuesOf } from "../support/generated.ts";
import { readOpenApi, type DescribedOperation, type OpenApi } from "../support/openapi.ts";

const generatedPerOperation = 25;
const seed = 20_261_120;
const json = { "content-type": "application/vnd.api+json" };

describeOnce("the compatibility surface in the OpenAPI document", (daybook) => {
  let api: TestProperty;
  let openApi: OpenApi;
  let ids: { profile: string; event: string; metric: string; job: string; account: string };
  let words: string[];
  beforeAll(async () => {
    api = await daybook().newProperty();
    openApi = await readOpenApi(api);
    const post = async (path: string, body: object) => (await api.post(path, body)).body.data.id as string;
    const attributes = { email: "documented@example.com" };
    ids = {
      profile: await post("/api/profiles", { data: { type: "profile", attributes } }),
      event: await post(
        "/api/events",
        openApi.operationAt("POST", "/api/events").body?.examples?.example?.value as object,
      ),
      metric: await post("/v1/metrics", { name: "documented" }),
      job: await post("/api/profile-bulk-import-jobs", {
        data: {
          type: "profile-bulk-import-job",
          attributes: { profiles: { data: [{ type: "profile", attributes }] } },
        },
      }),
      account: api.propertyId,
    };
    words = [
      ...Object.values(ids),
      "ada@example.com",
      "+351910000123",
      "Placed Order",
      "2026-11-02T09:30:00Z",
      "EUR",
      "UTC",
      "count",
    ];
  });

  function pathOf({ path }: DescribedOperation): string {
    const [, , collection = ""] = path.split("/");
    const idOf: Record<string, string> = {
      events: ids.event,
      profiles: ids.profile,
      metrics: ids.metric,
      "profile-bulk-import-jobs": ids.job,
      accounts: ids.account,
    };
    return path.replace("{id}", idOf[collection] ?? "");
  }

  async function call(operation: DescribedOperation, body?: string, query = ""): Promise<Answer> {
    const sent = body === undefined ? {} : { headers: json, body };
    const answer = await api.request(operation.method, pathOf(operation) + query, sent);
    expect([operation.operationId, body?.slice(0, 500), answer.status < 500]).toEqual([
      operation.operationId,
      body?.slice(0, 500),
      true,
    ]);
    openApi.expectDescribed(answer, operation);
    return answer;
  }

  test("describes every operation", () => {
    const described = openApi.compat.map(({ method, path }) => `${method} ${path}`);
    expect(described.toSorted()).toEqual([
      "GET /api/accounts",
      "GET /api/accounts/{id}",
      "GET /api/events",
      "GET /api/events/{id}",
      "GET /api/events/{id}/metric",
      "GET /api/events/{id}/profile",
      "GET /api/events/{id}/relationships/metric",
      "GET /api/events/{id}/relationships/profile",
      "GET /api/lists",
      "GET /api/metrics",
      "GET /api/metrics/{id}",
      "GET /api/metrics/{id}/flow-triggers",
      "GET /api/metrics/{id}/relationships/flow-triggers",
      "GET /api/profile-bulk-import-jobs",
      "GET /api/profile-bulk-import-jobs/{id}",
      "GET /api/profile-bulk-import-jobs/{id}/import-errors",
      "GET /api/profile-bulk-import-jobs/{id}/lists",
      "GET /api/profile-bulk-import-jobs/{id}/profiles",
      "GET /api/profile-bulk-import-jobs/{id}/relationships/lists",
      "GET /api/profile-bulk-import-jobs/{id}/relationships/profiles",
      "GET /api/profiles",
      "GET /api/profiles/{id}",
      "GET /api/profiles/{id}/lists",
      "GET /api/profiles/{id}/push-tokens",
      "GET /api/profiles/{id}/relationships/lists",
      "GET /api/profiles/{id}/relationships/push-tokens",
      "GET /api/profiles/{id}/relationships/segments",
      "GET /api/profiles/{id}/segments",
      "GET /api/segments",
      "PATCH /api/profiles/{id}",
      "POST /api/data-privacy-deletion-jobs",
      "POST /api/event-bulk-create-jobs",
      "POST /api/events",
      "POST /api/metric-aggregates",
      "POST /api/profile-bulk-import-jobs",
      "POST /api/profile-import",
      "POST /api/profile-merge",
      "POST /api/profiles",
    ]);
  });

  test("reads answer what is described, with everything included", async () => {
    for (const operation of openApi.compat.filter(({ method }) => method === "GET")) {
      expect((await call(operation)).status).toBe(200);
      for (const { name, description } of operation.parameters as { name: string; description?: string }[]) {
        if (name !== "include" && name !== "additional-fields[profile]") continue;
        const value = description?.replace(/^.*: /, "").replaceAll(" ", "") ?? "";
        expect((await call(operation, undefined, `?${name}=${value}`)).status).toBe(200);
      }
    }
  });

  test("the examples of writes are taken", async () => {
    for (const operation of openApi.compat.filter(({ body, path }) => body && path !== "/api/profile-merge")) {
      for (const { value } of Object.values(operation.body?.examples ?? {})) {
        const body = JSON.stringify(value)
          .replaceAll(exampleIds.profile, ids.profile)
          .replaceAll(/mtr_\w{26}/g, ids.metric);
        const answer = await call(operation, body);
        expect([operation.operationId, answer.text, answer.status < 300 || answer.status === 409]).toEqual([
          operation.operationId,
          answer.text,
          true,
        ]);
      }
    }
  });

  test("whatever is sent, the answer is described", async () => {
    for (const operation of openApi.compat.filter(({ body }) => body)) {
      const values = valuesOf(operation.body?.schema ?? {}, openApi.resolve, words).map((value) =>
        JSON.stringify(value),
      );
      for (const body of fc.sample(values, { numRuns: generatedPerOperation, seed })) await call(operation, body);
      for (const { value } of Object.values(operation.body?.examples ?? {})) {
        for (const broken of breakages(value)) {
          expect((await call(operation, JSON.stringify(broken))).status).toBeLessThan(500);
        }
      }
    }
  });

  test("parameters take or refuse whatever they are given", async () => {
    for (const operation of openApi.compat) {
      for (const { name, in: place } of operation.parameters) {
        if (place !== "query") continue;
        for (const value of [
          "",
          "x",
          "0",
          "-1",
          "null",
          "%00",
          "%ff",
          "%F0%9F%98%80",
          "equals(id,%22%22)",
          "x".repeat(8000),
        ]) {
          const answer = await call(operation, operation.method === "GET" ? undefined : "{}", `?${name}=${value}`);
          expect(answer.status).toBeLessThan(500);
        }
      }
    }
  });

  test("without a key, or with one that may not, nothing is told", async () => {
    const poor = await api.withScopes(["segments:read"]);
    for (const operation of openApi.compat) {
      for (const [client, status] of [
        [createApi(daybook().baseUrl), 401],
        [poor, 403],
      ] as const) {
        const answer = await client.request(operation.method, pathOf(operation));
        expect([operation.operationId, answer.status]).toEqual([operation.operationId, status]);
        openApi.expectDescribed(answer, operation);
      }
    }
  });
});
