/** Random sequences of writes, held against a model that is as simple as it can be said, and from clients that race. */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import pg from "pg";
import { expect, inject, test } from "vitest";
import { describeOnMesh, type TestProperty } from "../support/daybook.ts";
import { command, inputOf, Model, toOperations, type Command, type Person } from "./profiles.model.ts";
import { random } from "../support/random.ts";

describeOnMesh("profiles", (daybook) => {
  const nobody = "prof_01h00000000000000000000000";

  /** Deadlocks that PostgreSQL has found so far; what a connection has seen it reports within a second or two. */
  async function countDeadlocks(): Promise<number> {
    const database = new pg.Client({ connectionString: daybook().databaseUrl });
    await database.connect();
    try {
      await sleep(2_000);
      const { rows } = await database.query<{ deadlocks: string }>(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
      );
      return Number(rows[0]?.deadlocks);
    } finally {
      await database.end();
    }
  }

  /** Does a command for real. People are named by the ids that they were given. */
  async function run(api: TestProperty, model: Model, wanted: Command) {
    const idOf = (at: number): string => model.people[at % Math.max(1, model.people.length)]?.id ?? nobody;
    switch (wanted.do) {
      case "create":
        return api.post("/v1/profiles", { identifiers: wanted.names.map(inputOf), attributes: wanted.attributes });
      case "upsert":
        return api.post("/v1/profiles/upsert", {
          identifiers: wanted.names.map(inputOf),
          attributes: wanted.attributes,
        });
      case "upsertOperations":
        return api.post("/v1/profiles/upsert", {
          identifiers: wanted.names.map(inputOf),
          attribute_operations: toOperations(wanted.operations),
        });
      case "operate":
        return api.patch(`/v1/profiles/${idOf(wanted.who)}`, { attribute_operations: toOperations(wanted.operations) });
      case "add":
        return api.post(`/v1/profiles/${idOf(wanted.who)}/identifiers`, inputOf(wanted.name));
      case "remove": {
        const path = `/v1/profiles/${idOf(wanted.who)}/identifiers`;
        const { type, value: text } = inputOf(wanted.name);
        const { body } = await api.get(path);
        const found = body.data?.find(
          (one: { type: string; value: string }) => one.type === type && one.value === text,
        );
        return api.delete(`${path}/${found?.id ?? "idnt_01h00000000000000000000000"}`);
      }
      default:
        return api.post(`/v1/profiles/${idOf(wanted.survivor)}/merge`, { source_profile_id: idOf(wanted.source) });
    }
  }

  async function expectSame(api: TestProperty, person: Person): Promise<void> {
    let survivor = person;
    while (survivor.mergedInto) survivor = survivor.mergedInto;
    const { body, headers } = await api.get(`/v1/profiles/${person.id}?expand=identifiers`);
    expect(body.data.id).toBe(survivor.id);
    expect(body.meta.resolved_from).toBe(person.mergedInto ? person.id : undefined);
    expect(body.data.attributes).toEqual(Object.fromEntries(survivor.attributes));
    const shown = body.data.identifiers.map((one: { type: string; value: string }) => `${one.type} ${one.value}`);
    expect(shown.toSorted()).toEqual([...survivor.names].toSorted());
    expect(headers.get("etag")).toBe(`"v${survivor.version}"`);
  }

  test("do what the model does, whatever the sequence", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 25 }), async (commands) => {
        const api = await daybook().newProperty();
        const model = new Model();
        for (const wanted of commands) {
          const answer = await run(api, model, wanted);
          const { status, person } = model.apply(wanted);
          expect([wanted, answer.status]).toEqual([wanted, status]);
          if (!person) continue;
          if (person.id === "") person.id = answer.body.data.id;
          await expectSame(api, person);
        }
        for (const person of model.people) await expectSame(api, person);
        const listed = (await api.get("/v1/profiles?page[limit]=500")).body.data.map(({ id }: { id: string }) => id);
        const active = model.people.filter(({ mergedInto }) => !mergedInto).map(({ id }) => id);
        expect(listed.toSorted()).toEqual(active.toSorted());
      }),
      { numRuns: 80 },
    );
  });

  test("keep every promise when eight clients write at once", async () => {
    const api = await daybook().newProperty();
    const deadlocksBefore = await countDeadlocks();
    const ids: string[] = [];
    const written = new Map<string, string>();
    let marks = 0;
    const someNames = () => Array.from({ length: 1 + random(2) }, () => ({ type: "card", value: `${random(25)}` }));
    const unique = (list: { type: string; value: string }[]) => [
      ...new Map(list.map((one) => [one.value, one])).values(),
    ];
    const someId = (): string => ids[random(ids.length)] ?? nobody;

    async function step(): Promise<void> {
      const mark = `m${++marks}`;
      const choice = random(10);
      const note = ({ status, body, text }: Awaited<ReturnType<TestProperty["get"]>>, isMarked: boolean): void => {
        if (![200, 201, 404, 409, 422].includes(status)) throw new Error(`${status} ${text}`);
        if (status >= 300) return;
        const { id } = body.data;
        if (String(id).startsWith("prof_") && !ids.includes(id)) ids.push(id);
        if (isMarked) written.set(mark, id);
      };
      if (choice < 3) {
        note(
          await api.post("/v1/profiles/upsert", { identifiers: unique(someNames()), attributes: { [mark]: 1 } }),
          true,
        );
      } else if (choice < 4) {
        note(await api.post("/v1/profiles", { identifiers: unique(someNames()), attributes: { [mark]: 1 } }), true);
      } else if (choice < 7) {
        const body = {
          attribute_operations: [
            { op: "set", path: mark, value: 1 },
            { op: "append_unique", path: "marks", value: mark },
          ],
        };
        note(await api.patch(`/v1/profiles/${someId()}`, body), true);
      } else if (choice < 8) {
        note(await api.post(`/v1/profiles/${someId()}/merge`, { source_profile_id: someId() }), false);
      } else if (choice < 9) {
        note(
          await api.post(`/v1/profiles/${someId()}/identifiers`, {
            type: "card",
            value: `${random(25)}`,
            is_primary: true,
          }),
          false,
        );
      } else {
        const path = `/v1/profiles/${someId()}/identifiers`;
        const { body } = await api.get(path);
        const [one] = body.data ?? [];
        if (one) note(await api.delete(`${path}/${one.id}`), false);
      }
    }
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let turn = 0; turn < 60; turn++) await step();
      }),
    );
    // Chains of merges, while others go on writing to whatever id they know.
    await Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        for (let turn = 0; turn < 30; turn++) {
          if (client > 2) await step();
          else {
            const reads = await Promise.all([someId(), someId()].map((id) => api.get(`/v1/profiles/${id}`)));
            const [survivor, source] = reads.map(({ body }) => body.data.id as string);
            const { status } = await api.post(`/v1/profiles/${survivor}/merge`, { source_profile_id: source });
            expect([200, 422]).toContain(status);
          }
        }
      }),
    );

    // Nobody had to be freed by the database, which would have made them wait for a second. The mesh shares its
    // database with whatever test runs beside this one, so only the single process can tell.
    const isAlone = daybook().databaseUrl !== inject("mesh").databaseUrl;
    expect(isAlone ? await countDeadlocks() : deadlocksBefore).toBe(deadlocksBefore);
    const listed = (await api.get("/v1/profiles?page[limit]=500&expand=identifiers")).body.data;
    const owned = listed.flatMap(({ identifiers }: { identifiers: { value: string }[] }) =>
      identifiers.map(({ value: text }) => text),
    );
    expect(new Set(owned).size).toBe(owned.length);
    const primaries = listed.map(
      ({ identifiers }: { identifiers: { is_primary: boolean }[] }) =>
        identifiers.filter((one) => one.is_primary).length,
    );
    // Whoever is left may have none: the last primary one may have been removed.
    expect(Math.max(...primaries)).toBeLessThanOrEqual(1);
    const survivors = new Map<string, { id: string; attributes: Record<string, unknown> }>();
    for (const id of ids) {
      const { status, body } = await api.get(`/v1/profiles/${id}`);
      expect([id, status, body.data?.status]).toEqual([id, 200, "active"]);
      survivors.set(id, body.data);
    }
    expect(new Set([...survivors.values()].map(({ id }) => id))).toEqual(
      new Set(listed.map(({ id }: { id: string }) => id)),
    );
    expect(written.size).toBeGreaterThan(100);
    const lost = [...written].filter(([mark, id]) => survivors.get(id)?.attributes[mark] !== 1);
    expect(lost).toEqual([]);
  });
});
