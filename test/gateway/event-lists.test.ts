import { expect, test } from "vitest";
import { describeEverywhere, type TestProperty } from "../support/daybook.ts";
import { newEmail, newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";

interface Listed {
  id: string;
  type: string;
  occurred_at: string;
  received_at: string;
}

/** All pages of a list. */
async function readAll(api: TestProperty, query: string): Promise<Listed[]> {
  const all: Listed[] = [];
  for (let after = ""; ;) {
    const { status, text, body } = await api.get(`/v1/events?${query}${after}`);
    if (status !== 200) throw new Error(text);
    all.push(...body.data);
    if (!body.meta.page.has_more) return all;
    after = `&page[after]=${body.meta.page.next_cursor}`;
  }
}

const types = (events: readonly Listed[]): string[] => events.map(({ type }) => type);

describeEverywhere("lists of events", (daybook) => {
  /** Events that happened in another order than they were recorded in. */
  async function prepare() {
    const api = await daybook().newProperty();
    const [one, two] = [await newProfile(api), await newProfile(api)];
    const record = async (type: string, profileId: string, hour: number): Promise<Listed> => {
      const occurredAt = `2026-03-01T${String(hour).padStart(2, "0")}:00:00+01:00`;
      const body = { type, profile_id: profileId, properties: {}, occurred_at: occurredAt };
      return (await api.post("/v1/events", body)).body.data;
    };
    const events = [
      await record("c.c", one.id, 12),
      await record("a.a", two.id, 10),
      await record("b.b", one.id, 11),
      await record("a.a", one.id, 11),
    ];
    // Those of the platform's own come when they come, and would stand among them.
    await eventually(async () => ((await readAll(api, "filter[source]=system")).length === 2 ? true : undefined));
    return { api, one, two, events };
  }

  test("end a page of large events early, and leave none out", async () => {
    const api = await daybook().newProperty();
    const identifier = { type: "card", value: "1" };
    const ids: string[] = [];
    for (let batch = 0; batch < 15; batch++) {
      const events = Array.from({ length: 7 }, (_, index) => ({
        type: "large.event",
        identifier,
        properties: { text: "x".repeat(250_000) },
        occurred_at: new Date(Date.UTC(2026, 2, 1, batch, index)).toISOString(),
      }));
      const { body } = await api.post("/v1/events/batch", { events });
      ids.push(...body.data.results.map(({ data }: { data: { id: string } }) => data.id));
    }
    const first = await api.get("/v1/events?page[limit]=500&sort=occurred_at");
    expect(first.body.meta.page).toMatchObject({ limit: 500, has_more: true });
    expect([first.body.data.length > 50, first.text.length < 18 * 1024 * 1024]).toEqual([true, true]);
    const all = await readAll(api, "page[limit]=500&sort=occurred_at");
    expect(all.map(({ id }) => id)).toEqual(ids);
  });

  test("are in the order in which they happened, the latest first, or as asked", async () => {
    const { api, events } = await prepare();
    const list = (query: string) => readAll(api, `page[limit]=1&filter[source]=api&${query}`);
    const latest = await list("");
    expect(types(latest).toSorted()).toEqual(["a.a", "a.a", "b.b", "c.c"]);
    expect([latest[0]?.type, latest[3]?.type]).toEqual(["c.c", "a.a"]);
    expect((await list("sort=occurred_at")).map(({ id }) => id)).toEqual(latest.map(({ id }) => id).toReversed());
    expect((await list("sort=received_at")).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    expect((await list("sort=-received_at")).map(({ id }) => id)).toEqual(events.map(({ id }) => id).toReversed());
    // Two of one instant are in the order of their ids.
    const same = latest.filter(({ occurred_at: time }) => time === "2026-03-01T10:00:00.000000Z").map(({ id }) => id);
    expect(same).toEqual(same.toSorted().toReversed());
  });

  test("are filtered by type, profile, source and time", async () => {
    const { api, one, two, events } = await prepare();
    const list = async (query: string) =>
      types(await readAll(api, `page[limit]=2&sort=occurred_at&filter[source]=api&${query}`));
    expect(await list("filter[type]=a.a")).toEqual(["a.a", "a.a"]);
    expect(await list("filter[type]=a_a")).toEqual(["a.a", "a.a"]);
    expect(await list("filter[type]=none")).toEqual([]);
    expect(await list(`filter[profile_id]=${two.id}`)).toEqual(["a.a"]);
    expect(await list(`filter[profile_id]=${one.id.toUpperCase()}`)).toHaveLength(3);
    expect(await list(`filter[profile_id]=${one.id}&filter[type]=a.a`)).toEqual(["a.a"]);
    expect(await list("filter[profile_id]=prof_01h00000000000000000000000")).toEqual([]);
    expect(await list("filter[occurred_at][lt]=2026-03-01T10:00:00Z")).toEqual(["a.a"]);
    expect(
      (
        await list("filter[occurred_at][gte]=2026-03-01T10:00:00Z&filter[occurred_at][lte]=2026-03-01T10:00:00Z")
      ).toSorted(),
    ).toEqual(["a.a", "b.b"]);
    expect(await list("filter[occurred_at][gt]=2026-03-01T11:00:00%2B01:00")).toEqual(["c.c"]);
    expect(await list(`filter[received_at][gt]=${events[2]?.received_at}`)).toEqual(["a.a"]);
    expect(types(await readAll(api, "filter[source]=system"))).toEqual(["profile.created", "profile.created"]);
    expect(await readAll(api, "filter[source]=sdk")).toEqual([]);
  });

  test("show profiles and metrics in full when asked, each with its scope", async () => {
    const { api } = await prepare();
    const read = () => api.get("/v1/events?expand=profile,metric&filter[source]=api");
    const body = await eventually(async () => {
      const answer = await read();
      return answer.body.data.every(({ metric }: { metric: unknown }) => metric !== null) ? answer.body : undefined;
    });
    for (const event of body.data) {
      expect(event.profile).toMatchObject({ id: event.profile_id, object: "profile" });
      expect(event.metric).toMatchObject({ name: event.type, object: "metric" });
    }
    const reader = await api.withScopes(["events:read", "profiles:read"]);
    expect((await reader.get("/v1/events?expand=profile")).status).toBe(200);
    const refused = await reader.get("/v1/events?expand=profile,metric");
    expect([refused.status, refused.body.error.code]).toEqual([403, "missing_scope"]);
  });

  test("visit each that was there once, while others are recorded", async () => {
    const api = await daybook().newProperty();
    const identifier = newEmail();
    const record = (count: number) =>
      api.post("/v1/events/batch", {
        events: Array.from({ length: count }, (_, index) => ({
          type: "a.a",
          identifier,
          properties: {},
          occurred_at: `2026-03-01T00:00:${String(index % 60).padStart(2, "0")}Z`,
        })),
      });
    const { body } = await record(500);
    const there: string[] = body.data.results.map(({ data }: { data: { id: string } }) => data.id);
    for (const sort of ["occurred_at", "-occurred_at", "received_at", "-received_at"]) {
      const [visited] = await Promise.all([readAll(api, `page[limit]=37&sort=${sort}`), record(50)]);
      const ids = visited.map(({ id }) => id);
      expect([sort, new Set(ids).size]).toEqual([sort, ids.length]);
      expect([sort, there.filter((id) => !ids.includes(id))]).toEqual([sort, []]);
    }
  });

  test("a cursor is good for its filters and its order only", async () => {
    const { api } = await prepare();
    const cursor = (await api.get("/v1/events?page[limit]=1&filter[type]=a.a")).body.meta.page.next_cursor;
    const use = async (query: string) => (await api.get(`/v1/events?page[after]=${cursor}&${query}`)).status;
    expect(await use("filter[type]=a.a")).toBe(200);
    expect(await use("filter[type]=b.b")).toBe(400);
    expect(await use("filter[type]=a.a&sort=received_at")).toBe(400);
    expect(await use("")).toBe(400);
  });
});
