/** Conditions on properties hold what JSON says, whatever the keys and values are and however many there are. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { describeEverywhere } from "../support/daybook.ts";
import { newEmail } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import { aggregatesPath, recordAll } from "../support/recount.ts";
import { random } from "../support/random.ts";

const at = "2026-01-01T00:00:00Z";
const range = { from: at, to: "2026-01-02T00:00:00Z" };
const type = "some.things";
const keys = [
  "a",
  "A",
  "0",
  'quo"te',
  "é",
  "a b",
  "a.b",
  "",
  "select",
  "r",
  "k".repeat(63),
  "k".repeat(64),
  "ü".repeat(32),
  "\\",
  "$1",
];
const scalars = [null, true, false, "true", "null", "", "é\n\u001f", '"', "1", 1, 1.5, -0.25, "x\\y", "\u2028", 0];
type Value = (typeof scalars)[number] | { [key: string]: Value };

/** What a path leads to. */
function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    return inner !== null && typeof inner === "object" ? (inner as Record<string, unknown>)[key] : undefined;
  }, value);
}

describeEverywhere("conditions of aggregates", (daybook) => {
  test("count the events that fulfil all of them", async () => {
    const api = await daybook().newProperty();
    const scalar = fc.constantFrom(...scalars);
    const key = fc.constantFrom(...keys);
    const value: fc.Arbitrary<Value> = fc.oneof(
      { weight: 4, arbitrary: scalar },
      fc.dictionary(key, scalar, { maxKeys: 4 }),
    );
    const seed = random(2 ** 31);
    const documents = fc.sample(fc.dictionary(key, value, { maxKeys: 8 }), { numRuns: 1_000, seed });
    const identifier = newEmail();
    await recordAll(
      api,
      documents.map((properties) => ({ type, identifier, properties, occurred_at: at })),
    );
    const count = async (filter: object): Promise<number | undefined> => {
      const { status, body } = await api.post(aggregatesPath, { metric: type, ...range, filter });
      return status === 200 ? body.data.series[0].count[0] : undefined;
    };
    await eventually(async () => ((await count([])) === documents.length ? true : undefined));
    const path = fc.tuple(key, fc.option(key, { nil: undefined })).map((all) => all.filter((one) => one !== undefined));
    const conditions = fc.uniqueArray(fc.tuple(path, scalar), {
      minLength: 1,
      maxLength: 10,
      selector: ([one]) => JSON.stringify(one),
    });
    for (const chosen of [
      ...fc.sample(conditions, { numRuns: 60, seed }),
      ...keys.map((one) => [[[one], null]] as const),
    ]) {
      const filter = chosen.map(([one, wanted]) => ({ field: ["properties", ...one], value: wanted }));
      const expected = documents.filter((document) =>
        chosen.every(([one, wanted]) => (valueAt(document, one) ?? null) === wanted),
      ).length;
      expect(await count(filter), `${JSON.stringify(filter)} (seed ${seed})`).toBe(expected);
    }
  });

  test("take the last of a key that is there twice, and numbers of any form", async () => {
    const api = await daybook().newProperty();
    const { value } = newEmail();
    const doc = '{"a": "first", "a": "last", "b": {"c": 1, "c": 2}, "n": 1.50e1, "big": 1e999999999, "e": "\\u00e9"}';
    const sent = `{"type":"${type}","identifier":{"type":"email","value":"${value}"},"occurred_at":"${at}","properties":${doc}}`;
    expect((await api.post("/v1/events", sent)).status).toBe(201);
    const body = (filter: string): string =>
      `{"metric":"${type}","from":"${range.from}","to":"${range.to}","filter":{${filter}}}`;
    await eventually(async () => ((await api.post(aggregatesPath, body(""))).status === 200 ? true : undefined));
    const cases: [string, number][] = [
      ['"properties.a":"last"', 1],
      ['"properties.a":"first"', 0],
      ['"properties.b.c":2', 1],
      ['"properties.b.c":1', 0],
      ['"properties.n":15', 1],
      ['"properties.n":"15"', 0],
      ['"properties.big":1e999999999', 1],
      ['"properties.big":1e99999999', 0],
      ['"properties.e":"é"', 1],
    ];
    for (const [filter, expected] of cases) {
      const answer = await api.post(aggregatesPath, body(filter));
      expect(answer.body.data?.series[0].count, `${filter} ${answer.text}`).toEqual([expected]);
    }
    const all = cases.filter(([, expected]) => expected === 1).map(([filter]) => filter);
    const answer = await api.post(aggregatesPath, body(all.join(",")));
    expect(answer.body.data.series[0].count).toEqual([1]);
  });
});
