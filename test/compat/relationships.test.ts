/** What resources are related to, and lists of what there is nothing of. */
import klaviyo from "klaviyo-api";
import { beforeAll, expect, test } from "vitest";
import { describeEverywhere, type TestProperty } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

const { ApiKeySession, EventsApi, ListsApi, ProfilesApi, SegmentsApi } = klaviyo;

describeEverywhere("relationships over the compatibility surface", (daybook) => {
  let property: TestProperty;
  let profileId: string;
  let eventId: string;
  let metricId: string;
  let jobId: string;
  let session: InstanceType<typeof ApiKeySession>;

  beforeAll(async () => {
    property = await daybook().newProperty();
    session = new ApiKeySession(property.secret);
    const attributes = { email: "related@example.com" };
    profileId = (await property.post("/api/profiles", { data: { type: "profile", attributes } })).body.data.id;
    const metric = { data: { type: "metric", attributes: { name: "Placed Order" } } };
    const profile = { data: { type: "profile", attributes } };
    const event = { data: { type: "event", attributes: { metric, profile, properties: {} } } };
    eventId = (await property.post("/api/events", event)).body.data.id;
    metricId = await eventually(async () => (await property.get("/api/metrics")).body.data[0]?.id);
    const profiles = {
      data: [
        { type: "profile", attributes },
        { type: "profile", attributes: { email: "more@example.com" } },
      ],
    };
    const job = { data: { type: "profile-bulk-import-job", attributes: { profiles } } };
    jobId = (await property.post("/api/profile-bulk-import-jobs", job)).body.data.id;
    await eventually(async () => {
      const { status } = (await property.get(`/api/profile-bulk-import-jobs/${jobId}`)).body.data.attributes;
      return status === "complete" || undefined;
    });
  });

  test("an event's metric and profile are read by the official SDK", async () => {
    const events = new EventsApi(session);
    events.basePath = daybook().baseUrl;
    expect((await events.getMetricForEvent(eventId)).body.data).toMatchObject({
      id: metricId,
      attributes: { name: "Placed Order" },
    });
    expect((await events.getProfileForEvent(eventId)).body.data).toMatchObject({
      id: profileId,
      attributes: { email: "related@example.com" },
    });
    expect((await events.getMetricIdForEvent(eventId)).body.data).toMatchObject({ type: "metric", id: metricId });
    expect((await events.getProfileIdForEvent(eventId)).body.data).toMatchObject({ type: "profile", id: profileId });
    for (const end of ["metric", "profile"]) {
      const { body } = await property.get(`/api/events/${eventId}/relationships/${end}`);
      expect(body.links).toEqual({
        self: `${daybook().baseUrl}/api/events/${eventId}/relationships/${end}`,
        related: `${daybook().baseUrl}/api/events/${eventId}/${end}`,
      });
    }
  });

  test("they need the scopes of what they lead to", async () => {
    const reader = await property.withScopes(["events:read"]);
    for (const [end, scope] of [
      ["metric", "metrics:read"],
      ["profile", "profiles:read"],
    ]) {
      const { status, body } = await reader.get(`/api/events/${eventId}/${end}`);
      expect([status, body.errors[0].detail]).toEqual([403, expect.stringContaining(scope ?? "")]);
      expect((await reader.get(`/api/events/${eventId}/relationships/${end}`)).status).toBe(200);
    }
  });

  test("a job's profiles are listed by their ids, page by page", async () => {
    const path = `/api/profile-bulk-import-jobs/${jobId}/relationships/profiles`;
    const whole = (await property.get(path)).body;
    expect(whole.data).toHaveLength(2);
    expect(whole.data).toContainEqual({ type: "profile", id: profileId });
    const first = (await property.get(`${path}?page[size]=1`)).body;
    const second = (await property.get(first.links.next.slice(daybook().baseUrl.length))).body;
    expect([...first.data, ...second.data]).toEqual(whole.data);
    expect(second.links.next).toBeNull();
  });

  test("what there is nothing of is an empty list", async () => {
    const lists = new ListsApi(session);
    const segments = new SegmentsApi(session);
    const profiles = new ProfilesApi(session);
    for (const api of [lists, segments, profiles]) api.basePath = daybook().baseUrl;
    expect((await lists.getLists({ sort: "name", filter: 'equals(name,"Newsletter")' })).body.data).toEqual([]);
    expect((await segments.getSegments()).body.data).toEqual([]);
    expect((await profiles.getListsForProfile(profileId)).body.data).toEqual([]);
    expect((await profiles.getSegmentsForProfile(profileId)).body.data).toEqual([]);
    expect((await profiles.getListIdsForProfile(profileId)).body.data).toEqual([]);
    expect((await property.get(`/api/profile-bulk-import-jobs/${jobId}/lists`)).body.data).toEqual([]);
    expect((await property.get(`/api/metrics/${metricId}/flow-triggers`)).body.data).toEqual([]);
    expect((await property.get("/api/lists/Y6nRLr")).status).toBe(404);
  });

  test("of what is not there it is 404", async () => {
    const other = await daybook().newProperty();
    const paths = [
      ...["metric", "profile", "relationships/metric", "relationships/profile"].map(
        (end) => `/api/events/${eventId}/${end}`,
      ),
      ...["lists", "segments", "push-tokens"].flatMap((end) => [
        `/api/profiles/${profileId}/${end}`,
        `/api/profiles/${profileId}/relationships/${end}`,
      ]),
      ...["lists", "relationships/profiles", "relationships/lists"].map(
        (end) => `/api/profile-bulk-import-jobs/${jobId}/${end}`,
      ),
      `/api/metrics/${metricId}/flow-triggers`,
    ];
    for (const path of paths) {
      expect([path, (await property.get(path)).status]).toEqual([path, 200]);
      expect([path, (await other.get(path)).status]).toEqual([path, 404]);
      const nobody = path.replace(/(?<=\/api\/[\w-]+\/)[^/]+/, "x");
      expect([nobody, (await property.get(nobody)).status]).toEqual([nobody, 404]);
    }
  });
});
