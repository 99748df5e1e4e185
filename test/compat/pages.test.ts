/** Pages of lists, there and back. */
import { beforeAll, expect, test } from "vitest";
import { describeEverywhere, type TestProperty } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

const sizes = [1, 2, 3, 7];

describeEverywhere("pages over the compatibility surface", (daybook) => {
  let property: TestProperty;

  beforeAll(async () => {
    property = await daybook().newProperty();
    const metric = { data: { type: "metric", attributes: { name: "Paged" } } };
    for (let number = 0; number < 7; number++) {
      // Some have an email and some have none, and some events are of one instant.
      const attributes = number % 3 === 0 ? { external_id: `p${number}` } : { email: `p${number % 5}@example.com` };
      const time = `2026-10-0${1 + (number % 3)}T00:00:00Z`;
      const profile = { data: { type: "profile", attributes } };
      const event = { data: { type: "event", attributes: { metric, time, properties: {}, profile } } };
      await property.post("/api/events", event);
      const item = { type: "profile", attributes };
      const job = { data: { type: "profile-bulk-import-job", attributes: { profiles: { data: [item] } } } };
      await property.post("/api/profile-bulk-import-jobs", job);
    }
    // Until then the jobs still write to profiles, and change their order.
    await eventually(async () => {
      const { data } = (await property.get('/api/profile-bulk-import-jobs?filter=equals(status,"complete")')).body;
      return data.length === 7 || undefined;
    });
  });

  test.each([
    "/api/events",
    "/api/events?sort=timestamp",
    "/api/profiles?sort=created",
    "/api/profiles?sort=-updated",
    "/api/profiles?sort=email",
    "/api/profiles?sort=-email",
    "/api/profiles?sort=-id",
    "/api/profile-bulk-import-jobs",
    "/api/profile-bulk-import-jobs?sort=created_at",
  ])("%s is the same forwards and backwards, in pages of any size", async (list) => {
    const idsOf = (body: { data: { id: string }[] }): string[] => body.data.map(({ id }) => id);
    const follow = async (link: string) => (await property.get(link.slice(daybook().baseUrl.length))).body;
    const whole = idsOf((await property.get(list)).body);
    expect(whole.length).toBeGreaterThan(4);
    for (const size of sizes) {
      const pages = [(await property.get(`${list}${list.includes("?") ? "&" : "?"}page[size]=${size}`)).body];
      expect(pages[0].links.prev).toBeNull();
      while (pages.at(-1).links.next !== null) pages.push(await follow(pages.at(-1).links.next));
      expect(pages.flatMap(idsOf)).toEqual(whole);
      for (const [index, page] of pages.entries()) {
        if (index === 0) continue;
        const before = await follow(page.links.prev);
        expect([size, index, idsOf(before)]).toEqual([size, index, idsOf(pages[index - 1])]);
        // From there one comes forward again, and back no further than the beginning.
        expect(idsOf(await follow(before.links.next))).toEqual(idsOf(page));
        expect(before.links.prev === null).toBe(index === 1);
      }
    }
  });
});
