/** What clients of the other platform were seen to send, and to look for in what they are answered. */
import klaviyo from "klaviyo-api";
import { beforeAll, expect, test } from "vitest";
import { createApi } from "../support/api.ts";
import { describeEverywhere, type TestProperty } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

const { ApiKeySession, ProfilesApi } = klaviyo;
const metric = { data: { type: "metric", attributes: { name: "Placed Order" } } };

describeEverywhere("real clients of the compatibility surface", (daybook) => {
  let property: TestProperty;
  let count = 0;
  const newEmail = (): string => `real${++count}@example.com`;
  const record = (
    profile: object,
    name = "Placed Order",
  ): Promise<{ status: number; body: { data: { id: string } } }> =>
    property.post("/api/events", {
      data: {
        type: "event",
        attributes: {
          metric: { data: { type: "metric", attributes: { name } } },
          properties: {},
          profile: { data: profile },
        },
      },
    });
  const list = async (path: string, filter: string, more = "") => {
    const { status, body } = await property.get(`${path}?filter=${encodeURIComponent(filter)}${more}`);
    return { status, ids: body.data?.map(({ id }: { id: string }) => id), errors: body.errors };
  };

  beforeAll(async () => {
    property = await daybook().newProperty();
  });

  test("conditions within and(…) are all fulfilled, on every list", async () => {
    const email = newEmail();
    const { body } = await property.post("/api/profiles", {
      data: { type: "profile", attributes: { email, external_id: email } },
    });
    const { id } = body.data;
    const event = (await record({ type: "profile", id, attributes: {} }, "And Order")).body.data.id;
    const metrics = await eventually(async () =>
      (await property.get("/api/metrics")).body.data.find(
        ({ attributes }: { attributes: { name: string } }) => attributes.name === "And Order",
      ),
    );
    const isOfMetric = `equals(metric_id,"${metrics.id}")`;
    const since = "greater-than(datetime,2026-01-01)";
    for (const filter of [
      `and(${isOfMetric},${since})`,
      `and(${isOfMetric})`,
      `${since},and(${isOfMetric})`,
      `and(and(${isOfMetric}),and(${since}))`,
    ]) {
      expect([filter, (await list("/api/events", filter)).ids]).toEqual([filter, [event]]);
    }
    const never = "less-than(datetime,2026-01-01)";
    expect((await list("/api/events", `and(${isOfMetric},${never})`)).ids).toEqual([]);
    const both = `and(equals(email,"${email}"),equals(external_id,"${email}"))`;
    expect((await list("/api/profiles", both)).ids).toEqual([id]);
    expect((await list("/api/metrics", 'and(equals(integration.name,"API"))')).ids).toContain(metrics.id);
    for (const name of ["or", "not"]) {
      const { status, errors } = await list("/api/events", `${name}(${isOfMetric},${since})`);
      expect([status, errors[0].detail]).toEqual([400, expect.stringContaining(`${name}(…) is not supported`)]);
    }
    const asked = { metric_id: metrics.id, measurements: ["count"] };
    const range = "and(greater-or-equal(datetime,2026-01-01),less-than(datetime,2100-01-01))";
    const attributes = { ...asked, interval: "month", filter: [range.replace("2100", "2027")] };
    const answer = await property.post("/api/metric-aggregates", { data: { type: "metric-aggregate", attributes } });
    expect(answer.status).toBe(200);
  });

  test("subscriptions are said to be none, in the shape that clients read", async () => {
    const profiles = new ProfilesApi(new ApiKeySession(property.secret));
    profiles.basePath = daybook().baseUrl;
    const { id } = (
      await property.post("/api/profiles", { data: { type: "profile", attributes: { email: newEmail() } } })
    ).body.data;
    const { body } = await profiles.getProfile(id, { additionalFieldsProfile: ["subscriptions"] });
    expect(body.data.attributes.subscriptions?.email?.marketing).toMatchObject({
      consent: "NEVER_SUBSCRIBED",
      canReceiveEmailMarketing: false,
    });
    expect(body.data.attributes.subscriptions?.sms?.marketing).toMatchObject({ consent: "NEVER_SUBSCRIBED" });
    for (const filter of [
      'equals(subscriptions.email.marketing.suppression.reason,"HARD_BOUNCE")',
      "greater-than(subscriptions.email.marketing.suppression.timestamp,2026-01-01T00:00:00Z)",
      'and(equals(subscriptions.email.marketing.list_suppressions.list_id,"x"),greater-than(created,2020-01-01))',
    ]) {
      expect([filter, await list("/api/profiles", filter)]).toEqual([
        filter,
        expect.objectContaining({ status: 200, ids: [] }),
      ]);
    }
    expect((await list("/api/profiles", 'equals(subscriptions.nope,"x")')).status).toBe(400);
  });

  test("an event of an unknown id is that of the identifiers beside it", async () => {
    const email = newEmail();
    for (const id of ["4711", "prof_01jcq5w8xkf5r8v4tqk2m9d3ha"]) {
      const { status, body } = await record({ type: "profile", id, attributes: { email } });
      expect(status).toBe(202);
      const { profile } = (await property.get(`/api/events/${body.data.id}?include=profiles,metrics`)).body.data
        .relationships;
      const [found] = (await list("/api/profiles", `equals(email,"${email}")`)).ids;
      expect(profile.data.id).toBe(found);
    }
    const entry = {
      type: "event-bulk-create",
      attributes: {
        profile: { data: { type: "profile", id: "4711", attributes: { email: newEmail() } } },
        events: { data: [{ type: "event", attributes: { metric } }] },
      },
    };
    const bulk = { data: { type: "event-bulk-create-job", attributes: { "events-bulk-create": { data: [entry] } } } };
    const job = await property.post("/api/event-bulk-create-jobs", bulk);
    // Such a job cannot be read, so no link leads there.
    expect([job.status, job.body.data.links]).toEqual([202, undefined]);
    const alone = await record({ type: "profile", id: "4711", attributes: {} });
    expect(alone.status).toBe(404);
  });

  test("included resources go by their old names too", async () => {
    const event = (await record({ type: "profile", attributes: { email: newEmail() } })).body.data.id;
    const { body } = await property.get(`/api/events/${event}?include=profiles,metrics,attributions`);
    expect(body.included.map(({ type }: { type: string }) => type)).toContain("profile");
    expect((await property.get(`/api/events/${event}?include=constructor`)).status).toBe(400);
  });

  test("fields and states that there are not are refused, and those that there are taken", async () => {
    const refused = [
      ["/api/profiles?fields[profile]=email,nope", "fields[profile]"],
      ["/api/events?fields[event]=nope", "fields[event]"],
      ["/api/events?include=metric&fields[metric]=constructor", "fields[metric]"],
      ["/api/events?fields[nope]=x", "fields[nope]"],
      ['/api/profile-bulk-import-jobs?filter=equals(status,"nope")', "filter"],
      ['/api/profile-bulk-import-jobs?filter=any(status,["queued","nope"])', "filter"],
    ];
    for (const [path = "", parameter] of refused) {
      const { status, body } = await property.get(path);
      expect([path, status, body.errors?.[0].source]).toEqual([path, 400, { parameter }]);
    }
    for (const path of [
      "/api/profiles?fields[profile]=id,email,location.city,properties.plan,subscriptions.email.marketing,anonymous_id",
      "/api/events?fields[event]=event_properties.a,timestamp&fields[attribution]=x",
      '/api/profile-bulk-import-jobs?filter=any(status,["queued","cancelled"])',
    ]) {
      expect([path, (await property.get(path)).status]).toEqual([path, 200]);
    }
  });

  test("keys go with pk_ before them, and refusals and limits are said as the other platform says them", async () => {
    const { baseUrl } = daybook();
    const prefixed = createApi(baseUrl, `pk_${property.secret}`);
    const good = await prefixed.get("/api/accounts");
    expect(good.status).toBe(200);
    expect(good.headers.get("ratelimit-limit")).toMatch(/^(\d+), \1;w=60$/);
    expect(good.headers.get("ratelimit-remaining")).toMatch(/^\d+$/);
    expect(Object.values(good.body.data[0].attributes.contact_information.street_address)).toEqual(Array(6).fill(""));
    const none = await createApi(baseUrl).get("/api/accounts");
    expect([none.status, none.headers.get("www-authenticate")]).toEqual([401, "Bearer, Klaviyo-API-Key"]);
    expect((await createApi(baseUrl, `pk_pk_${property.secret}`).get("/api/accounts")).status).toBe(401);
    // Natively neither.
    expect((await prefixed.get("/v1/account")).status).toBe(401);
    expect((await property.get("/v1/account")).headers.get("ratelimit-limit")).toMatch(/^\d+$/);
  });
});
