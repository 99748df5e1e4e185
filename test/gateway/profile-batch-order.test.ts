/** A batch is as its items one after the other, however many of them write to the same profile. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { startSingleProcess, type TestDaybook, type TestProperty } from "../support/daybook.ts";

const owner = new Owner();
let daybook: TestDaybook;
beforeAll(async () => {
  daybook = await startSingleProcess(owner);
});
afterAll(() => owner.close());

const seed = 20_261_122;
const batches = 25;

// Few of everything, so that they meet.
const key = fc.constantFrom("a", "b", "7");
const identifier = fc.record(
  {
    type: fc.constantFrom("email", "external_id"),
    value: fc.constantFrom("ada@example.com", "bea@example.com", "cleo@example.com", "bad"),
    is_primary: fc.boolean(),
  },
  { requiredKeys: ["type", "value"] },
);
const operation = fc.oneof(
  fc.record({ op: fc.constant("delete"), path: key }),
  fc.record({
    op: fc.constantFrom("set", "append_unique", "remove"),
    path: key,
    value: fc.constantFrom(1, 2, [1], "x"),
  }),
);
const item = fc
  .record(
    {
      identifiers: fc.oneof(
        { weight: 3, arbitrary: fc.tuple(identifier) },
        { weight: 1, arbitrary: fc.tuple(identifier, identifier) },
      ),
      attributes: fc.dictionary(key, fc.constantFrom(1, 2, [1], "x", null), { maxKeys: 2 }),
      attribute_operations: fc.array(operation, { minLength: 1, maxLength: 3 }),
      location: fc.record({ city: fc.constantFrom("Porto", "Faro", "Braga", null, "x".repeat(300)) }),
      idempotency_key: fc.integer({ min: 1, max: 30 }).map((number) => `k-${number}`),
    },
    { requiredKeys: ["identifiers"] },
  )
  .filter((one) => one.attributes === undefined || one.attribute_operations === undefined);

interface Outcome {
  status: number;
  code: string | undefined;
  param: string | null | undefined;
  /** Which profile it was, by the order in which they came. */
  profile: number | undefined;
}

/** Numbers profiles by the order in which they come, as their ids differ. */
function numbering(): (id: string | undefined) => number | undefined {
  const seen: string[] = [];
  return (id) => {
    if (id === undefined) return undefined;
    if (!seen.includes(id)) seen.push(id);
    return seen.indexOf(id);
  };
}

interface Answer {
  status: number;
  data?: { id: string };
  error?: { code: string; param: string | null };
}

/** Items of a batch may have a key, an upsert by itself may not. */
async function upsertAlone(api: TestProperty, one: { idempotency_key?: string }): Promise<Answer> {
  if (one.idempotency_key !== undefined) {
    return (await api.post("/v1/profiles/batch", { profiles: [one] })).body.data.results[0];
  }
  const { status, body } = await api.post("/v1/profiles/upsert", one);
  return { status, ...body };
}

function outcomesOf(answers: readonly Answer[]): Outcome[] {
  const numberOf = numbering();
  return answers.map(({ status, data, error }) => ({
    status,
    code: error?.code,
    param: error?.param,
    profile: numberOf(data?.id),
  }));
}

/** Everything that is to be the same, but for ids and times. */
async function stateOf(api: TestProperty): Promise<unknown> {
  const { data } = (await api.get("/v1/profiles?expand=identifiers&sort=created_at")).body as {
    data: { id: string }[];
  };
  const states = await Promise.all(data.map(({ id }) => api.get(`/v1/profiles/${id}?expand=identifiers`)));
  return states
    .map(({ headers, body }) => ({
      etag: headers.get("etag"),
      attributes: JSON.stringify(body.data.attributes),
      location: body.data.location,
      identifiers: body.data.identifiers
        .map((one: Record<string, unknown>) => [one.type, one.value, one.is_primary].join(" "))
        .toSorted(),
    }))
    .toSorted((one, other) => (one.identifiers.join() < other.identifiers.join() ? -1 : 1));
}

test("a batch comes to the same as its items one after the other", async () => {
  const samples = fc.sample(fc.array(item, { minLength: 2, maxLength: 15 }), { numRuns: batches, seed });
  let together = 0;
  for (const items of samples) {
    const [whole, alone] = [await daybook.newProperty(), await daybook.newProperty()];
    const answer = await whole.post("/v1/profiles/batch", { profiles: items });
    const outcomes = outcomesOf(answer.body.data.results);
    const answers: Answer[] = [];
    for (const one of items) answers.push(await upsertAlone(alone, one));
    const expected = outcomesOf(answers);
    expect([items, outcomes]).toEqual([items, expected]);
    expect([items, await stateOf(whole)]).toEqual([items, await stateOf(alone)]);
    together += expected.filter(({ status }) => status === 200).length;
  }
  expect(together).toBeGreaterThan(25);
});
