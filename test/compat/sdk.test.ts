/** The other platform's official SDK, unmodified: only its base address and the key are ours. */
import klaviyo from "klaviyo-api";
import { beforeAll, expect, test } from "vitest";
import { describeEverywhere, type TestProperty } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

const { AccountsApi, ApiKeySession, EventsApi, MetricsApi, ProfilesApi } = klaviyo;

let count = 0;
const newEmail = (): string => `sdk${++count}@example.com`;

describeEverywhere("the official SDK", (daybook) => {
  let property: TestProperty;
  let events: InstanceType<typeof EventsApi>;
  let profiles: InstanceType<typeof ProfilesApi>;
  let metrics: InstanceType<typeof MetricsApi>;
  let accounts: InstanceType<typeof AccountsApi>;
  beforeAll(async () => {
    property = await daybook().newProperty();
    const session = new ApiKeySession(property.secret);
    events = new EventsApi(session);
    profiles = new ProfilesApi(session);
    metrics = new MetricsApi(session);
    accounts = new AccountsApi(session);
    for (const api of [events, profiles, metrics, accounts]) api.basePath = daybook().baseUrl;
  });

  const profileOf = (attributes: object) => ({ data: { type: "profile" as const, attributes } });
  const eventOf = (email: string, name: string, more: object = {}) => ({
    data: {
      type: "event" as const,
      attributes: {
        properties: { order_id: "1001", Items: [{ SKU: "a" }], nested_key: { someKey: 1.5 } },
        metric: { data: { type: "metric" as const, attributes: { name } } },
        profile: { data: { type: "profile" as const, attributes: { email } } },
        ...more,
      },
    },
  });
  const metricNamed = async (name: string) =>
    eventually(async () => (await metrics.getMetrics()).body.data.find(({ attributes }) => attributes.name === name));
  /** The events of a profile; the platform records some of its own. */
  const eventsOf = async (profileId: string, metricName: string) => {
    const { id } = await metricNamed(metricName);
    const filter = `equals(profile_id,"${profileId}"),equals(metric_id,"${id}")`;
    return (await events.getEvents({ filter, include: ["metric", "profile"] })).body;
  };

  test("a profile with every field goes in and comes out equal", async () => {
    const attributes = {
      email: newEmail(),
      phoneNumber: "+15005550006",
      externalId: "customer-1",
      firstName: "Sarah",
      lastName: "Mason",
      organization: "Example Corporation",
      locale: "en-US",
      image: "https://example.com/sarah.jpeg",
      location: {
        address1: "89 E 42nd St",
        address2: "1st floor",
        city: "New York",
        country: "United States",
        latitude: "40.7128",
        longitude: -74.006,
        region: "NY",
        zip: "10017",
        timezone: "America/New_York",
        ip: "127.0.0.1",
      },
      properties: { pseudonym: "Dr. Octopus", tags: ["a", { b: null }], $odd: 1, "with.dot": true, first_name: "x" },
    };
    const { response, body } = await profiles.createProfile(profileOf(attributes));
    expect(response.status).toBe(201);
    expect(body.data.attributes).toMatchObject(attributes);
    const read = await profiles.getProfile(body.data.id ?? "", { additionalFieldsProfile: ["subscriptions"] });
    expect(read.body.data.attributes).toMatchObject(attributes);
    expect(read.body.data.attributes.properties).toEqual(attributes.properties);
    expect(read.body.data.attributes.location).toEqual(attributes.location);
    expect(read.body.data.attributes.created).toBeInstanceOf(Date);
  });

  test("a duplicate is told, with whose it is", async () => {
    const email = newEmail();
    const { body } = await profiles.createProfile(profileOf({ email }));
    const failure = await profiles.createProfile(profileOf({ email })).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      response: {
        status: 409,
        data: {
          errors: [
            {
              status: 409,
              code: "duplicate_profile",
              source: { pointer: "/data/attributes" },
              meta: { duplicate_profile_id: body.data.id },
            },
          ],
        },
      },
    });
  });

  test("imports create, then update, append and clear", async () => {
    const email = newEmail();
    const made = await profiles.createOrUpdateProfile(
      profileOf({ email, firstName: "Ada", lastName: "L", properties: { plan: "gold", list: ["a"] } }),
    );
    expect(made.response.status).toBe(201);
    const updated = await profiles.createOrUpdateProfile({
      data: {
        type: "profile",
        attributes: { email, lastName: null, properties: { other: 1 } },
        meta: { patchProperties: { append: { list: "b" }, unappend: { list: "a" } } },
      },
    });
    expect(updated.response.status).toBe(200);
    expect(updated.body.data.id).toBe(made.body.data.id);
    expect(updated.body.data.attributes).toMatchObject({
      firstName: "Ada",
      lastName: null,
      properties: { plan: "gold", other: 1, list: ["b"] },
    });
  });

  test("updates replace what a profile is known by", async () => {
    const [email, other] = [newEmail(), newEmail()];
    const { body } = await profiles.createProfile(profileOf({ email, externalId: `e-${email}` }));
    const id = body.data.id ?? "";
    const updated = await profiles.updateProfile(id, {
      data: { type: "profile", id, attributes: { email: other, externalId: null, title: "x" } },
    });
    expect(updated.response.status).toBe(200);
    expect(updated.body.data.attributes).toMatchObject({ email: other, externalId: null });
    const { body: found } = await profiles.getProfiles({ filter: `any(email,["${email}","${other}"])` });
    expect(found.data.map((profile) => profile.id)).toEqual([id]);
    expect((await profiles.createProfile(profileOf({ email }))).response.status).toBe(201);
    const failure = await profiles
      .updateProfile(id, { data: { type: "profile", id, attributes: { email } } })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ response: { status: 409, data: { errors: [{ code: "duplicate_profile" }] } } });
  });

  test("an event is read back as it was written", async () => {
    const email = newEmail();
    const sent = eventOf(email, "Placed Order", {
      time: new Date("2026-10-01T10:00:00.250Z"),
      value: 49.9,
      valueCurrency: "EUR",
      uniqueId: "one",
    });
    expect((await events.createEvent(sent)).response.status).toBe(202);
    expect((await events.createEvent(sent)).response.status).toBe(202);
    const { body: found } = await profiles.getProfiles({ filter: `equals(email,"${email}")` });
    const profileId = found.data[0]?.id ?? "";
    const { data, included } = await eventsOf(profileId, "Placed Order");
    expect(data).toHaveLength(1);
    expect(data[0]?.attributes).toMatchObject({
      timestamp: Date.UTC(2026, 9, 1, 10) / 1000,
      datetime: new Date("2026-10-01T10:00:00.250Z"),
      eventProperties: sent.data.attributes.properties,
    });
    expect(data[0]?.relationships?.profile?.data?.id).toBe(profileId);
    expect(included?.map(({ type }) => type).toSorted()).toEqual(["metric", "profile"]);
    const one = await events.getEvent(data[0]?.id ?? "", { include: ["profile"] });
    expect(one.body.data.attributes.uuid).toBe(data[0]?.attributes.uuid);
  });

  test("events in bulk are all recorded, and counted under the name that was written", async () => {
    const people = [newEmail(), newEmail()];
    const { response } = await events.bulkCreateEvents({
      data: {
        type: "event-bulk-create-job",
        attributes: {
          eventsBulkCreate: {
            data: people.map((email, index) => ({
              type: "event-bulk-create",
              attributes: {
                profile: { data: { type: "profile", attributes: { email, firstName: "Bulk" } } },
                events: {
                  data: [1, 2].map((number) => ({
                    type: "event",
                    attributes: {
                      properties: { number },
                      value: 10.5,
                      time: new Date(`2026-10-0${index + 1}T10:00:00Z`),
                      metric: { data: { type: "metric", attributes: { name: "Bulk Thing!" } } },
                    },
                  })),
                },
              },
            })),
          },
        },
      },
    });
    expect(response.status).toBe(202);
    const metric = await metricNamed("Bulk Thing!");
    const { body: own } = await metrics.getMetrics({ filter: 'equals(integration.name,"API")' });
    expect(own.data.map(({ id }) => id)).toContain(metric.id);
    expect((await metrics.getMetric(metric.id)).body.data.attributes.name).toBe("Bulk Thing!");
    const answer = await eventually(async () => {
      const { body } = await metrics.queryMetricAggregates({
        data: {
          type: "metric-aggregate",
          attributes: {
            metricId: metric.id,
            measurements: ["count", "sum_value", "unique"],
            interval: "day",
            filter: ["greater-or-equal(datetime,2026-10-01T00:00:00)", "less-than(datetime,2026-10-04T00:00:00)"],
          },
        },
      });
      const [row] = body.data.attributes.data;
      const counts = (row?.measurements as { count: number[] } | undefined)?.count ?? [];
      return counts.join() === "2,2,0" ? body.data.attributes : undefined;
    });
    expect(answer.data[0]).toMatchObject({
      dimensions: [],
      measurements: { count: [2, 2, 0], sum_value: [21, 21, 0], unique: [1, 1, 0] },
    });
    expect(answer.dates).toHaveLength(3);
    const { body } = await profiles.getProfiles({ filter: `equals(email,"${people[0]}")` });
    expect(body.data[0]?.attributes.firstName).toBe("Bulk");
    expect(body.data[0]?.attributes.lastEventDate).toBeInstanceOf(Date);
  });

  test("lists are paged by whole links, as the SDK passes them on", async () => {
    const api = await daybook().newProperty();
    const mine = new ProfilesApi(new ApiKeySession(api.secret));
    mine.basePath = `${daybook().baseUrl}/`;
    for (let number = 0; number < 5; number++) await mine.createProfile(profileOf({ email: newEmail() }));
    const seen: (string | undefined)[] = [];
    let pageCursor: string | undefined;
    do {
      const { body } = await mine.getProfiles({ pageSize: 2, sort: "created", ...(pageCursor ? { pageCursor } : {}) });
      seen.push(...body.data.map(({ attributes }) => attributes.email as string | undefined));
      pageCursor = body.links?.next ?? undefined;
    } while (pageCursor);
    expect(seen).toHaveLength(5);
    expect(new Set(seen).size).toBe(5);
  });

  test("an import job completes, with its profiles and its errors", async () => {
    const taken = [newEmail(), newEmail()];
    for (const email of taken) await profiles.createProfile(profileOf({ email, externalId: email }));
    const fresh = newEmail();
    const { response, body } = await profiles.bulkImportProfiles({
      data: {
        type: "profile-bulk-import-job",
        attributes: {
          profiles: {
            data: [
              profileOf({ email: fresh, firstName: "New", properties: { a: 1 } }).data,
              profileOf({ email: taken[0], externalId: taken[1] }).data,
            ],
          },
        },
        relationships: { lists: { data: [{ type: "list", id: "abc" }] } },
      },
    });
    expect(response.status).toBe(202);
    const jobId = body.data.id;
    const done = await eventually(async () => {
      const job = await profiles.getBulkImportProfilesJob(jobId);
      return job.body.data.attributes.status === "complete" ? job.body.data.attributes : undefined;
    });
    expect(done).toMatchObject({ totalCount: 2, completedCount: 1, failedCount: 1 });
    const imported = await profiles.getProfilesForBulkImportProfilesJob(jobId);
    expect(imported.body.data.map(({ attributes }) => attributes.email)).toEqual([fresh]);
    const errors = await profiles.getErrorsForBulkImportProfilesJob(jobId);
    expect(errors.body.data[0]?.attributes).toMatchObject({
      code: "duplicate_profile",
      detail: expect.any(String),
      originalPayload: { email: taken[0], external_id: taken[1] },
      source: { pointer: "/data/attributes/profiles/data/1/attributes" },
    });
    const jobs = await profiles.getBulkImportProfilesJobs({ filter: 'equals(status,"complete")', pageSize: 1 });
    expect(jobs.body.data[0]?.id).toBe(jobId);
  });

  test("profiles are merged, and the source is read as the destination", async () => {
    const [one, other] = await Promise.all(
      [1, 2].map(async () => (await profiles.createProfile(profileOf({ email: newEmail() }))).body.data.id ?? ""),
    );
    const { response, body } = await profiles.mergeProfiles({
      data: {
        type: "profile-merge",
        id: one ?? "",
        relationships: { profiles: { data: [{ type: "profile", id: other ?? "" }] } },
      },
    });
    expect(response.status).toBe(201);
    expect(body.data).toMatchObject({ type: "profile", id: one });
    expect((await profiles.getProfile(other ?? "")).body.data.id).toBe(one);
  });

  test("there is one account", async () => {
    const { body } = await accounts.getAccounts();
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject({
      id: property.propertyId,
      attributes: { testAccount: true, preferredCurrency: "USD", timezone: "UTC" },
    });
  });
});
