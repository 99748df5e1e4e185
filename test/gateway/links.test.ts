/** Anonymous events find their person, whenever the person appears. */
import { expect, test } from "vitest";
import { describeEverywhere, type TestProperty } from "../support/daybook.ts";
import { newEmail, newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";

let customers = 0;
const newCustomer = () => ({ type: "customer_id", value: `c-${++customers}` });

async function record(api: TestProperty, identifier: object): Promise<{ id: string; profile_id: string | null }> {
  const { status, text, body } = await api.post("/v1/events", {
    type: "page.viewed",
    identifier,
    properties: { a: 1 },
  });
  if (status !== 201) throw new Error(text);
  return body.data;
}

/** Waits until events are somebody's. */
function expectLinked(api: TestProperty, events: readonly { id: string }[], profileId: string): Promise<true> {
  return eventually(
    async () => {
      const reads = await Promise.all(events.map(({ id }) => api.get(`/v1/events/${id}`)));
      const owners = new Set(reads.map(({ body }) => body.data.profile_id));
      return owners.size === 1 && owners.has(profileId) ? true : undefined;
    },
    { explain: () => `events are not linked to ${profileId}` },
  );
}

describeEverywhere("anonymous events", (daybook) => {
  test.each([
    [
      "made with it",
      async (api: TestProperty, identifier: object) => (await newProfile(api, { identifiers: [identifier] })).id,
    ],
    [
      "given it by an upsert",
      async (api: TestProperty, identifier: object) => {
        const email = newEmail();
        await newProfile(api, { identifiers: [email] });
        return (await api.post("/v1/profiles/upsert", { identifiers: [email, identifier] })).body.data.id as string;
      },
    ],
    [
      "given it as one more",
      async (api: TestProperty, identifier: object) => {
        const { id, path } = await newProfile(api);
        await api.post(`${path}/identifiers`, identifier);
        return id;
      },
    ],
  ])("are linked to a profile that is %s", async (_how, gain) => {
    const api = await daybook().newProperty();
    const [identifier, other] = [newCustomer(), newCustomer()];
    const events = [await record(api, identifier), await record(api, identifier)];
    const stranger = await record(api, other);
    expect([...events, stranger].map((event) => event.profile_id)).toEqual([null, null, null]);
    const profileId = await gain(api, identifier);
    await expectLinked(api, events, profileId);
    const { data } = (await api.get(`/v1/events?filter[profile_id]=${profileId}&filter[type]=page.viewed`)).body;
    expect(data.map(({ id }: { id: string }) => id).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    expect((await api.get(`/v1/events/${stranger.id}`)).body.data.profile_id).toBeNull();
  });

  test("are linked to the survivor of a merge", async () => {
    const api = await daybook().newProperty();
    const identifier = newCustomer();
    const event = await record(api, identifier);
    const [survivor, source] = [await newProfile(api), await newProfile(api, { identifiers: [identifier] })];
    await api.post(`${survivor.path}/merge`, { source_profile_id: source.id });
    await expectLinked(api, [event], survivor.id);
  });

  test("are all linked, however recording them races with the profile that gains their identifier", async () => {
    const api = await daybook().newProperty();
    for (let turn = 0; turn < 10; turn++) {
      const identifier = newCustomer();
      const recording = Array.from({ length: 20 }, () => record(api, identifier));
      const [{ id }, ...events] = await Promise.all([newProfile(api, { identifiers: [identifier] }), ...recording]);
      await expectLinked(api, events, id);
    }
  });
});
