/**
 * Everything that is wrong with a request is said in one answer, in the order of the request, in sentences that name
 * the fields.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import type { Answer } from "../support/api.ts";
import { startSingleProcess, type TestProperty } from "../support/daybook.ts";
import { fillPath, readOpenApi, type DescribedOperation } from "../support/openapi.ts";

interface FieldError {
  code: string;
  message: string;
  param: string | null;
}

const runs = 6;
// Objects in these hold any JSON.
const open = /^(?:properties|attributes|filter)\.|^attribute_operations\.\d+\.value/;

/** Every fault of an error; one that is alone stands on top only. */
function faultsOf(error: FieldError & { errors?: FieldError[] }): FieldError[] {
  expect(error.errors?.[0] ?? error).toMatchObject({ code: error.code, message: error.message, param: error.param });
  return error.errors ?? [error];
}

/** A message is a sentence that names its field, and no template of a validator. */
function expectSentence({ message, param }: FieldError): void {
  expect(message).toMatch(/^[`A-Z].*[.?]$/s);
  expect(message).not.toMatch(/\bThis\b|\bmust be (?:string|object|array)\b|undefined/);
  if (param !== null) expect(message).toContain(param.length > 79 ? param.slice(0, 79) : param);
}

/** Dotted paths of the fields of a body that are no objects and no lists, in the order of the document. */
function leavesOf(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, child]) => leavesOf(child, path === "" ? key : `${path}.${key}`));
}

/**
 * Breaks the fields of a body, by what no field holds: a control character within open objects, and a list of nothing
 * elsewhere.
 */
function broken(value: unknown, places: ReadonlySet<string>, path = "", root = ""): unknown {
  if (places.has(path)) return open.test(path.slice(root.length)) ? "\0" : { nested: [] };
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value))
    return value.map((item, index) => broken(item, places, `${path}.${index}`.replace(/^\./, ""), root));
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      broken(child, places, path === "" ? key : `${path}.${key}`, root),
    ]),
  );
}

describe("all faults in one answer", () => {
  const owner = new Owner();
  let api: TestProperty;
  let operations: DescribedOperation[];
  beforeAll(async () => {
    api = await (await startSingleProcess(owner)).newProperty();
    ({ operations } = await readOpenApi(api));
  });
  afterAll(() => owner.close());

  const send = ({ method }: DescribedOperation, path: string, body: unknown): Promise<Answer> =>
    api.request(method, path, { headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const paramsOf = (answer: Answer): (string | null)[] => {
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    const faults = faultsOf(answer.body.error);
    for (const fault of faults) expectSentence(fault);
    return faults.map(({ param }) => param);
  };

  test("every broken field of every body is named, and no other", async () => {
    const withBodies = operations.filter(({ body, path }) => body && !path.endsWith("/batch"));
    expect(withBodies.length).toBeGreaterThan(8);
    for (const operation of withBodies) {
      for (const { value } of Object.values(operation.body?.examples ?? {})) {
        const leaves = leavesOf(value);
        const choice = fc.subarray(leaves, { minLength: 1, maxLength: Math.min(19, leaves.length) });
        const property = fc.asyncProperty(choice, async (places) => {
          const body = { ...(broken(value, new Set(places)) as object), colour: 1 };
          const expected = [...leaves.filter((leaf) => places.includes(leaf)), "colour"];
          expect(paramsOf(await send(operation, fillPath(operation), body))).toEqual(expected);
        });
        await fc.assert(property, { numRuns: runs });
      }
    }
  });

  test("and of every item of a batch", async () => {
    for (const [path, list] of [
      ["/v1/events/batch", "events"],
      ["/v1/profiles/batch", "profiles"],
    ] as const) {
      const operation = operations.find((one) => one.path === path) as DescribedOperation;
      const [example] = Object.values(operation.body?.examples ?? {});
      const items = (example as { value: Record<string, object[]> }).value[list] as object[];
      const item = items[0] as object;
      const leaves = leavesOf(item);
      const choice = fc.subarray(leaves, { minLength: 2 });
      const property = fc.asyncProperty(choice, async (places) => {
        const answer = await send(operation, path, { [list]: [broken(item, new Set(places)), item] });
        expect(answer.status).toBe(200);
        const faults = faultsOf(answer.body.data.results[0].error);
        for (const fault of faults) expectSentence(fault);
        expect(faults.map(({ param }) => param)).toEqual(leaves.filter((leaf) => places.includes(leaf)));
      });
      await fc.assert(property, { numRuns: runs });
    }
  });

  test("shape, content and identifiers come together, with those of the query in front", async () => {
    const body = { type: 1, identifier: { type: "email", value: "nope" }, value: "x", properties: {} };
    expect(paramsOf(await api.post("/v1/events", body))).toEqual(["type", "identifier.value", "value", "currency"]);
    const profile = {
      identifiers: [
        { type: "email", value: "nope" },
        { type: "phone", value: "1" },
      ],
      location: { country: "ZZ" },
      x: 1,
    };
    const params = ["identifiers.0.value", "identifiers.1.value", "location.country", "x"];
    expect(paramsOf(await api.post("/v1/profiles?dry_run=1&limit=2", profile))).toEqual([
      "dry_run",
      "limit",
      ...params,
    ]);
    expect(paramsOf(await api.post("/v1/profiles", profile))).toEqual(params);
  });

  test("every bad parameter of every list is named", async () => {
    for (const operation of operations.filter(({ method }) => method === "GET")) {
      const names = operation.parameters.filter((one) => one.in === "query").map(({ name }) => name);
      const bad = [
        ["colour", "1"],
        ...names.flatMap((name) =>
          /^(?:sort|expand|page\[limit\]|resolve|filter\[(?:status|system|resource|email|phone|profile_id)\])$|\[g?lte?\]$/.test(
            name,
          )
            ? [[name, "no pe"]]
            : [],
        ),
        ...(names.some((name) => name.startsWith("filter[")) ? [["filter[nope]", "x"]] : []),
        ["size", "1"],
      ] as [string, string][];
      expect(paramsOf(await api.get(`${fillPath(operation)}?${new URLSearchParams(bad).toString()}`))).toEqual(
        bad.map(([name]) => name),
      );
    }
  });

  test("more than 20 are not looked for", async () => {
    const colours = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`colour${index}`, 1]));
    expect(paramsOf(await api.post("/v1/metrics", colours))).toHaveLength(20);
    expect(paramsOf(await api.get(`/v1/metrics?${Object.keys(colours).join("&")}`))).toHaveLength(20);
  });

  const message = async (answer: Promise<Answer>): Promise<string> => (await answer).body.error.message;

  test("messages say what was expected and what came", async () => {
    const event = { type: "a.b", identifier: { type: "external_id", value: "x" }, properties: {} };
    expect(await message(api.post("/v1/events", { ...event, value: 49.9, currency: "EUR" }))).toBe(
      '`value` must be a decimal string such as "49.90", with up to 18 digits and up to 8 more behind a point; got the number 49.9.',
    );
    expect(await message(api.post("/v1/events", { ...event, event: "x" }))).toBe(
      "`event` is not a known field. Did you mean `type`?",
    );
    expect(await message(api.post("/v1/events/batch", [event]))).toBe(
      'The body must be a JSON object; got a list of 1 item. Send the list in `events`: {"events": […]}.',
    );
  });

  test.each([
    ["filter[phone]=+351910000123", "filter[phone]"],
    ["filter[created_at][gte]=2026-11-02T10:30:00+01:00", "filter[created_at][gte]"],
  ])("a bare plus in %s is explained", async (query, param) => {
    const answer = await api.get(`/v1/profiles?${query}`);
    expect(paramsOf(answer)).toEqual([param]);
    expect(answer.body.error.message).toContain("write it as %2B");
  });

  test.each([
    ['{"type":}', "line 1, column 9"],
    ['{\n  "type": "a.b",\n}', "line 3, column 1"],
    ['{"secret": "ada@example.com', "line 1, column 12"],
    ["", "The body is empty"],
  ])("%j is told where it stops being JSON", async (body, place) => {
    const answer = await api.post("/v1/events", body);
    expect(answer.body.error).toMatchObject({ code: "invalid_json", param: null });
    expect(answer.body.error.message).toContain(place);
    expect(answer.body.error.message).not.toContain("ada@example.com");
    expectSentence(answer.body.error);
  });

  test.each([
    ["/v1/events/?x=1", "`/v1/events`"],
    ["/v1//events", "`/v1/events`"],
    ["/v1/event", "`/v1/event` is not a path"],
  ])("%s is told its path", async (path, hint) => {
    const { status, body } = await api.get(path);
    expect([status, body.error.code]).toEqual([404, "resource_not_found"]);
    expect(body.error.message).toContain(hint);
    expectSentence(body.error);
  });
});
