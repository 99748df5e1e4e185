import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { describeEverywhere, describeOnMesh, testCall, type TestProperty } from "../support/daybook.ts";
import { newEmail, newProfile } from "../support/people.ts";

interface Listed {
  id: string;
  created_at: string;
  updated_at: string;
}

/** All pages of a list. */
async function readAll(
  api: TestProperty,
  query: string,
  between: () => Promise<unknown> = async () => undefined,
): Promise<Listed[]> {
  const all: Listed[] = [];
  for (let after = ""; ;) {
    const { status, text, body } = await api.get(`/v1/profiles?${query}${after}`);
    if (status !== 200) throw new Error(text);
    all.push(...body.data);
    const { has_more: hasMore, next_cursor: cursor } = body.meta.page;
    expect(cursor === null).toBe(!hasMore);
    if (!hasMore) return all;
    after = `&page[after]=${cursor}`;
    await between();
  }
}

describeEverywhere("lists of profiles", (daybook) => {
  test("are newest first, in pages, with identifiers when they are asked for", async () => {
    const api = await daybook().newProperty();
    const made: string[] = [];
    for (let count = 0; count < 5; count++) made.push((await newProfile(api)).id);
    const first = await api.get("/v1/profiles?page[limit]=2");
    expect(first.body.meta.page).toEqual({ limit: 2, has_more: true, next_cursor: expect.stringMatching(/^cur_/) });
    expect(first.body.data.map(({ id }: Listed) => id)).toEqual([made[4], made[3]]);
    expect((await readAll(api, "page[limit]=2")).map(({ id }) => id)).toEqual(made.toReversed());
    expect((await readAll(api, "page[limit]=2&sort=created_at")).map(({ id }) => id)).toEqual(made);

    const whole = (await api.get("/v1/profiles?page[limit]=1&expand=identifiers")).body.data[0];
    expect(whole.identifiers).toMatchObject([{ id: whole.identifier_ids[0], value: expect.stringContaining("@") }]);
    const reader = await api.withScopes(["profiles:read"]);
    expect((await reader.get("/v1/profiles?expand=identifiers")).text).not.toContain('"value"');
  });

  test("are in order of the last change when asked", async () => {
    const api = await daybook().newProperty();
    const made = [await newProfile(api), await newProfile(api), await newProfile(api)] as const;
    await api.patch(made[0].path, { attributes: { a: 1 } });
    const ids = async (sort: string) => (await readAll(api, `page[limit]=1&sort=${sort}`)).map(({ id }) => id);
    expect(await ids("-updated_at")).toEqual([made[0].id, made[2].id, made[1].id]);
    expect(await ids("updated_at")).toEqual([made[1].id, made[2].id, made[0].id]);
  });

  test("find a person by each identifier, spelled as they like", async () => {
    const api = await daybook().newProperty();
    const person = await newProfile(api, {
      identifiers: [
        { type: "email", value: "ada@example.com" },
        { type: "phone", value: "+15550100123" },
        { type: "external_id", value: "c-1" },
      ],
    });
    await newProfile(api);
    const find = async (query: string) =>
      (await api.get(`/v1/profiles?${query}`)).body.data.map(({ id }: Listed) => id);
    expect(await find("filter[email]=%20ADA@example.com")).toEqual([person.id]);
    expect(await find("filter[phone]=%2B15550100123")).toEqual([person.id]);
    expect(await find("filter[external_id]=c-1&filter[email]=ada@example.com")).toEqual([person.id]);
    expect(await find("filter[external_id]=c-1&filter[email]=other@example.com")).toEqual([]);
    expect(await find("filter[email]=nobody@example.com")).toEqual([]);
  });

  test("are filtered by tag, by status and by time", async () => {
    const api = await daybook().newProperty();
    const { profiles } = daybook().clients;
    const [one, two] = [await newProfile(api), await newProfile(api)];
    const [three, four] = [await newProfile(api), await newProfile(api)];
    const tag = (profileId: string, ...add: string[]) =>
      profiles.updateTags({ propertyId: api.propertyId, profileId, add }, testCall);
    await tag(one.id, "vip", "gold");
    await tag(two.id, "vip");
    await api.post(`${three.path}/merge`, { source_profile_id: four.id });
    const find = async (query: string) => (await readAll(api, `${query}&sort=created_at`)).map(({ id }) => id);
    expect(await find("filter[tag]=vip")).toEqual([one.id, two.id]);
    expect(await find("filter[tag]=gold")).toEqual([one.id]);
    expect(await find("filter[tag]=none")).toEqual([]);
    expect(await find("")).toEqual([one.id, two.id, three.id]);
    expect(await find("filter[status]=merged")).toEqual([four.id]);
    expect(await find("filter[status]=redacted")).toEqual([]);
    expect(await find(`filter[created_at][gte]=${two.created_at}`)).toEqual([two.id, three.id]);
    expect(await find(`filter[created_at][gt]=${two.created_at}`)).toEqual([three.id]);
    expect(await find(`filter[created_at][lte]=${two.created_at}`)).toEqual([one.id, two.id]);
    expect(await find(`filter[created_at][lt]=${two.created_at}&filter[created_at][gte]=${one.created_at}`)).toEqual([
      one.id,
    ]);
    expect(await find(`filter[updated_at][lte]=${three.created_at}`)).toEqual([]);
    expect(await find(`filter[created_at][gte]=2030-01-01T00:00:00%2B01:00`)).toEqual([]);
  });

  test("take any time there is, and any large number for a page", async () => {
    const api = await daybook().newProperty();
    await newProfile(api);
    await api.post("/v1/events", { type: "a.b", identifier: newEmail(), properties: {} });
    const times = [
      "0000-01-01T00:00:00Z",
      "0001-01-01T00:00:00%2B01:00",
      "9999-12-31T23:59:59.999999Z",
      "9999-12-31T23:59:59.999999-01:00",
    ];
    for (const [path, field] of [
      ["profiles", "created_at"],
      ["profiles", "updated_at"],
      ["events", "occurred_at"],
      ["events", "received_at"],
    ]) {
      for (const time of times) {
        const isPast = time.startsWith("0");
        for (const [operator, isFound] of [
          ["gte", isPast],
          ["gt", isPast],
          ["lte", !isPast],
          ["lt", !isPast],
        ]) {
          const { status, body } = await api.get(`/v1/${path}?filter[${field}][${operator}]=${time}`);
          expect([path, field, operator, time, status, body.data?.length > 0]).toEqual([
            path,
            field,
            operator,
            time,
            200,
            isFound,
          ]);
        }
      }
    }
    expect((await api.get("/v1/profiles?page[limit]=99999999999999999999")).body.meta.page.limit).toBe(500);
  });

  test("a cursor is good for its property, its list, its filters and its order only", async () => {
    const api = await daybook().newProperty();
    for (let count = 0; count < 3; count++) await newProfile(api);
    const cursor = (await api.get("/v1/profiles?page[limit]=1&filter[status]=active")).body.meta.page.next_cursor;
    const use = async (path: string, who: TestProperty = api) => {
      const { status, body } = await who.get(`${path}&page[after]=${cursor}`);
      return [status, body.error?.code];
    };
    expect(await use("/v1/profiles?filter[status]=active")).toEqual([200, undefined]);
    // How many are on a page, and what is shown of each, may change on the way.
    expect(await use("/v1/profiles?filter[status]=active&page[limit]=2&expand=identifiers")).toEqual([200, undefined]);
    const refused = [400, "invalid_cursor"];
    expect(await use("/v1/profiles?filter[status]=merged")).toEqual(refused);
    expect(await use("/v1/profiles?")).toEqual(refused);
    expect(await use("/v1/profiles?filter[status]=active&sort=created_at")).toEqual(refused);
    expect(await use("/v1/events?")).toEqual(refused);
    expect(await use("/v1/profiles?filter[status]=active", await daybook().newProperty())).toEqual(refused);
  });
});

describeOnMesh("long lists of profiles", (daybook) => {
  test("paging through 10,000 visits each that was there throughout once, while others come and change", async () => {
    const api = await daybook().newProperty();
    const batch = async (count: number): Promise<string[]> => {
      const profiles = Array.from({ length: count }, () => ({ identifiers: [newEmail()] }));
      const { body } = await api.post("/v1/profiles/batch", { profiles });
      return body.data.results.map(({ data }: { data: { id: string } }) => data.id);
    };
    const lanes = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const ids: string[] = [];
        for (let turn = 0; turn < 25; turn++) ids.push(...(await batch(100)));
        return ids;
      }),
    );
    const there = lanes.flat();
    expect(new Set(there).size).toBe(10_000);

    const done = new AbortController();
    const disturb = async (): Promise<void> => {
      for (let turn = 0; !done.signal.aborted; turn++) {
        await batch(5);
        await api.patch(`/v1/profiles/${there[(turn * 797) % there.length]}`, { attributes: { turn } });
        await sleep(1);
      }
    };
    const disturbances = [disturb(), disturb()];
    const visits = [await readAll(api, "page[limit]=500"), await readAll(api, "page[limit]=333&sort=created_at")];
    done.abort();
    await Promise.all(disturbances);
    for (const visited of visits) {
      const counts = new Map<string, number>();
      for (const { id } of visited) counts.set(id, (counts.get(id) ?? 0) + 1);
      expect(there.filter((id) => counts.get(id) !== 1)).toEqual([]);
      expect(Math.max(...counts.values())).toBe(1);
    }
  }, 120_000);
});
