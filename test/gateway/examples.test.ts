/**
 * The examples in the OpenAPI document: each request can be sent as it stands, and each answer is one that its
 * operation gives.
 */
import { beforeAll, expect, test } from "vitest";
import { exampleIds } from "../../gateway/native/examples.ts";
import { installApp } from "../support/apps.ts";
import { describeOnce, type TestProperty } from "../support/daybook.ts";
import { fillPath, readOpenApi, type DescribedOperation, type OpenApi } from "../support/openapi.ts";
import { makePrivacyRequests } from "../support/privacy.ts";
import { newWebhookIds } from "../support/webhooks.ts";
import { newProfile } from "../support/people.ts";
import { newRejectedWrite } from "../support/rejected-writes.ts";

interface Stage {
  api: TestProperty;
  /** Puts the ids of what was made in the place of those in examples. */
  fill: (text: string) => string;
}

describeOnce("the examples", (daybook) => {
  let openApi: OpenApi;
  beforeAll(async () => {
    openApi = await readOpenApi(await daybook().newProperty());
  });

  /** A property with what the examples name. Nobody in it has the identifiers that they write. */
  async function prepare({ withRejected = false } = {}): Promise<Stage> {
    const api = await daybook().newProperty();
    const profile = await newProfile(api, {
      identifiers: [1, 2].map((number) => ({ type: "email", value: `prepared${number}@example.com` })),
      attributes: { plan: "gold" },
    });
    const other = await newProfile(api);
    const metric = (await api.post("/v1/metrics", { name: "order.completed" })).body.data;
    const event = (
      await api.post("/v1/events", { type: "order.completed", profile_id: profile.id, properties: { order_id: "1" } })
    ).body.data;
    const { appId, installationId } = await installApp(daybook(), api.propertyId);
    const ids = {
      profile: profile.id,
      otherProfile: other.id,
      identifier: profile.identifier_ids[1] ?? "",
      event: event.id,
      metric: metric.id,
      app: appId,
      installation: installationId,
      ...(await makePrivacyRequests(daybook(), api)),
      ...(withRejected && { rejectedWrite: await newRejectedWrite(api) }),
      ...(await newWebhookIds(api)),
    };
    return {
      api,
      fill: (text) =>
        Object.entries(ids).reduce(
          (filled, [name, id]) => filled.replaceAll(exampleIds[name as keyof typeof ids], id),
          text,
        ),
    };
  }

  async function call(
    { api, fill }: Stage,
    operation: DescribedOperation,
    query: string,
    body?: unknown,
  ): Promise<void> {
    const path = fillPath(operation);
    const sent = { headers: { "content-type": "application/json" }, body: fill(JSON.stringify(body ?? null)) };
    const answer = await api.request(operation.method, fill(path + query), body === undefined ? {} : sent);
    openApi.expectDescribed(answer, operation);
    expect([operation.operationId, query, answer.status < 300 ? "" : answer.text]).toEqual([
      operation.operationId,
      query,
      "",
    ]);
    // A stream has no body in JSON.
    const counts = answer.body?.data.object === "batch_result" ? answer.body.data.counts : undefined;
    if (counts !== undefined) expect([operation.operationId, counts.failed]).toEqual([operation.operationId, 0]);
  }

  test("every body that is shown is taken", async () => {
    let sent = 0;
    for (const operation of openApi.operations) {
      for (const { value } of Object.values(operation.body?.examples ?? {})) {
        await call(await prepare(), operation, "", value);
        sent++;
      }
    }
    expect(sent).toBeGreaterThan(20);
  });

  test("every form of a body is shown", () => {
    for (const { operationId, body } of openApi.operations) {
      if (!body) continue;
      const values = Object.values(body.examples ?? {}).map(({ value }) => value);
      for (const form of body.schema.anyOf ?? [body.schema]) {
        const validate = openApi.compile(form);
        expect([operationId, values.some((value) => validate(value))]).toEqual([operationId, true]);
      }
    }
  });

  test("every operation without a body answers, and every parameter that is shown is taken", async () => {
    const stage = await prepare({ withRejected: true });
    let parameters = 0;
    for (const operation of openApi.operations.filter(({ body }) => !body)) {
      const shown = operation.parameters.filter(
        (parameter) => parameter.in === "query" && parameter.example !== undefined,
      );
      const each = shown.map(({ name, example }) => `?${new URLSearchParams({ [name]: String(example) }).toString()}`);
      parameters += shown.length;
      for (const query of each) await call(stage, operation, query);
      await call(operation.method === "DELETE" ? await prepare() : stage, operation, "");
    }
    expect(parameters).toBeGreaterThan(20);
  });

  test("every answer that is shown is one of its operation, on both surfaces", () => {
    for (const { operationId, responses } of [...openApi.operations, ...openApi.compat]) {
      for (const [status, { content }] of Object.entries(responses).filter(([code]) => Number(code) < 300)) {
        // Some answers have no body.
        if (Object.keys(content).length === 0) continue;
        const { schema, examples = {} } = Object.values(content)[0] ?? { schema: {} };
        expect([operationId, status, Object.keys(examples)]).toEqual([operationId, status, ["answer"]]);
        const validate = openApi.compile(schema);
        for (const { value } of Object.values(examples)) {
          expect([operationId, validate(value), validate.errors]).toEqual([operationId, true, null]);
        }
      }
    }
  });

  test("every error that is shown is one of its operation and status, on both surfaces", () => {
    const { components } = JSON.parse(openApi.text) as { components: { examples: Record<string, { value: object }> } };
    for (const { operationId, responses } of [...openApi.operations, ...openApi.compat]) {
      for (const [status, { description, content }] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        const { schema, examples = {} } = Object.values(content)[0] ?? { schema: {} };
        const validate = openApi.compile(schema);
        const shown = Object.values(examples as Record<string, { $ref?: string; value?: unknown }>).map(
          ({ $ref, value }) => value ?? components.examples[$ref?.split("/").at(-1) ?? ""]?.value,
        );
        expect([operationId, status, shown.length > 0]).toEqual([operationId, status, true]);
        for (const value of shown) {
          expect([operationId, status, value, validate(value)]).toEqual([operationId, status, value, true]);
          const { error, errors } = value as { error?: { code: string; type?: string }; errors?: { code: string }[] };
          // The codes of the first revision are those of its own form.
          if (error?.type !== undefined || errors) {
            expect([operationId, description]).toEqual([
              operationId,
              expect.stringContaining(`\`${error?.code ?? errors?.[0]?.code}\``),
            ]);
          }
        }
      }
    }
  });
});
