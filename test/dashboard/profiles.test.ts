/** Profiles in the dashboard: found, revealed, edited, merged and redacted in a real browser. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { apiCalls, curlOf } from "../../gateway/dashboard/ui/api-calls.ts";
import { findBarriers, startBrowser, type TestBrowser, type Window } from "../support/browser.ts";
import { describeOnce, testCall, type TestProperty } from "../support/daybook.ts";
import { newMember, type TestMember } from "../support/members.ts";
import { newEmail, newProfile, type Person } from "../support/people.ts";
import { eventually } from "../support/processes.ts";

describeOnce("profiles in the dashboard", (daybook) => {
  const owner = new Owner();
  let browser: TestBrowser;
  let support: TestMember;
  let property: TestProperty;

  beforeAll(async () => {
    browser = owner.own(await startBrowser());
    property = await daybook().newProperty();
    support = await newMember(daybook(), [{ role: Role.SUPPORT, propertyId: property.propertyId }]);
  });
  afterAll(() => owner.close());

  async function open({ cookie }: TestMember, path: string): Promise<Window> {
    const window = owner.own(await browser.open(daybook().baseUrl, { viewport: { width: 1280, height: 900 } }));
    await window.context.addCookies([cookie]);
    await window.page.goto(`/dashboard/${property.propertyId}/profiles${path}`);
    await window.page.locator("h1").waitFor();
    return window;
  }

  async function find(page: Page, text: string): Promise<void> {
    await page.getByRole("searchbox", { name: /^Find/ }).fill(text);
    await page.keyboard.press("Enter");
  }

  const readProfile = async ({ path }: Person) => (await property.get(`${path}?expand=identifiers`)).body.data;

  test("one is found by its email in any case, and shows values only while they are revealed", async () => {
    const person = await newProfile(property, {
      identifiers: [{ type: "email", value: "grace.hopper@example.com" }],
      attributes: { first_name: "Grace", last_name: "Hopper" },
    });
    const window = await open(support, "");
    const { page } = window;
    await page.getByRole("link", { name: "Grace Hopper" }).waitFor();
    await find(page, " GRACE.Hopper@Example.COM ");
    await page.waitForURL(`**/profiles/${person.id}`);
    await page.getByRole("heading", { level: 1, name: "Grace Hopper" }).waitFor();
    const value = page.getByText("grace.hopper@example.com");
    await page.getByText("g•••@example.com").waitFor();
    expect(await value.count()).toBe(0);
    await page.getByRole("button", { name: "Reveal values" }).click();
    await value.waitFor();
    expect(page.url()).not.toMatch(/hopper/i);
    await page.getByRole("link", { name: "Profiles" }).click();
    await page.getByRole("heading", { level: 1, name: "Profiles" }).waitFor();
    await page.goBack();
    await page.getByText("g•••@example.com").waitFor();
    expect(await value.count()).toBe(0);
    await page.getByRole("link", { name: "Profiles" }).click();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Screen, property or id" }).fill(person.id);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/profiles/${person.id}`);
    window.expectNoFaults();
    const { entries } = await daybook().clients.members.listAudit(
      { propertyId: property.propertyId, limit: 10 },
      testCall,
    );
    expect(entries.map(({ memberEmail, action, targetIds }) => [memberEmail, action, targetIds])).toEqual([
      [support.email, "daybook.dashboard.v1.DashboardService/RevealProfile", [person.id]],
    ]);
    const shown = `${curlOf(apiCalls.readProfile(person.id), daybook().baseUrl)} --silent --fail`;
    const { stdout } = await promisify(execFile)("sh", ["-c", shown], {
      env: { ...process.env, DAYBOOK_KEY: property.secret },
    });
    expect(JSON.parse(stdout)).toMatchObject({ data: { id: person.id } });
  });

  test("a viewer is sent no value of an identifier, and offered nothing that she may not do", async () => {
    const email = "very.private@example.com";
    const person = await newProfile(property, {
      identifiers: [
        { type: "email", value: email },
        { type: "external_id", value: "very.private.7" },
      ],
      attributes: { plan: "gold", $email: email },
    });
    await property.post("/v1/events", { type: "page.viewed", profile_id: person.id, properties: {} });
    const viewer = await newMember(daybook(), [{ role: Role.VIEWER, propertyId: property.propertyId }]);
    const window = await open(viewer, "");
    const { page } = window;
    const answers: Promise<string>[] = [];
    page.on("response", (response) => {
      if (response.url().includes("/rpc/")) answers.push(response.body().then((body) => body.toString("latin1")));
    });
    const shown: string[] = [];
    await find(page, email.toUpperCase());
    await page.waitForURL(`**/profiles/${person.id}`);
    for (const tab of ["Timeline", "Attributes (1)", "Merges"]) {
      await page.getByRole("tab", { name: tab }).click();
      await page.locator("[role=tabpanel] :is(table, .empty-state)").waitFor();
      shown.push(await page.content());
    }
    await page.goto(`/dashboard/${property.propertyId}/profiles`);
    await page.locator("table").waitFor();
    shown.push(await page.content());
    expect(await page.getByRole("button", { name: /Reveal|Merge|Redact|Add|Edit|Remove/ }).count()).toBe(0);
    const texts = [...shown, ...(await Promise.all(answers))];
    expect(texts.length).toBeGreaterThan(8);
    expect(texts.some((text) => text.includes(person.id))).toBe(true);
    expect(texts.filter((text) => text.includes("very.private"))).toEqual([]);
    window.expectNoFaults();
  });

  test(
    "a merge does what its preview says, and not before the two are looked at again",
    { timeout: 60_000 },
    async () => {
      const [email, other] = [newEmail(), newEmail()];
      const survivor = await newProfile(property, {
        identifiers: [{ ...email, is_primary: true }],
        attributes: { plan: "gold", first_name: "Ada" },
        location: { city: "Porto" },
      });
      const source = await newProfile(property, {
        identifiers: [
          { ...other, is_primary: true },
          { type: "external_id", value: "customer-9" },
        ],
        attributes: { plan: "silver", visits: 12 },
        location: { city: "Lisbon", country: "PT" },
      });
      const { propertyId } = property;
      await daybook().clients.profiles.updateTags({ propertyId, profileId: source.id, add: ["vip"] }, testCall);
      for (const order of ["1", "2"]) {
        await property.post("/v1/events", { type: "order.completed", profile_id: source.id, properties: { order } });
      }
      // The two, and the event of the platform that says that the profile was made.
      await eventually(async () => {
        const { count } = await daybook().clients.events.countProfileEvents(
          { propertyId, profileId: source.id },
          testCall,
        );
        return count === 3n ? true : undefined;
      });
      const window = await open(support, `/${survivor.id}`);
      const { page } = window;
      await page.getByRole("button", { name: "Merge …" }).click();
      const dialog = page.getByRole("alertdialog");
      await find(page, other.value);
      const facts = dialog.locator(".key-values");
      await facts.waitFor();
      expect(await facts.locator("dd").allInnerTexts()).toEqual([
        "3 events",
        expect.stringMatching(/^email p•••@example\.com not primary any more\s+external_id c•••$/),
        "visits",
        "vip",
        "country",
      ]);
      expect(await dialog.locator("tbody tr").allInnerTexts()).toEqual([
        'plan\t"gold"\t"silver"',
        "Location: city\tPorto\tLisbon",
      ]);
      expect(await findBarriers(window)).toEqual([]);
      // Somebody writes to the survivor meanwhile.
      await property.patch(survivor.path, { attributes: { visits: 1 } });
      await dialog.getByRole("button", { name: "Merge for good" }).click();
      await dialog.getByText("Somebody changed this profile meanwhile.").waitFor();
      expect(window.takeFaults()).toEqual([expect.stringContaining("console: Failed to load resource")]);
      await dialog.getByRole("button", { name: "Reload" }).click();
      await dialog.getByRole("cell", { name: "visits" }).waitFor();
      await dialog.getByRole("button", { name: "Merge for good" }).click();
      await page.waitForURL(`**/profiles/${survivor.id}?show=merges`);
      await page.getByRole("cell", { name: "You" }).waitFor();
      await page.getByRole("tab", { name: "Timeline" }).click();
      await page
        .getByRole("cell", { name: /^Merged prof_/ })
        .first()
        .waitFor();
      const merged = await readProfile(survivor);
      expect(merged).toMatchObject({
        attributes: { plan: "gold", first_name: "Ada", visits: 1 },
        tags: ["vip"],
        location: { city: "Porto", country: "PT" },
      });
      expect(
        merged.identifiers.map((one: { value: string; is_primary: boolean }) => [one.value, one.is_primary]),
      ).toEqual([
        [email.value, true],
        [other.value, false],
        ["customer-9", false],
      ]);
      const { events } = await daybook().clients.events.listEvents(
        { propertyId, profileId: survivor.id, limit: 100 },
        testCall,
      );
      expect(events.filter(({ recordedFor }) => recordedFor === source.id)).toHaveLength(3);
      window.expectNoFaults();
    },
  );

  test("a redaction asks for the id, and the screen then shows what is left", { timeout: 60_000 }, async () => {
    const person = await newProfile(property, { attributes: { first_name: "Forgotten" } });
    await property.post("/v1/events", {
      type: "order.completed",
      profile_id: person.id,
      properties: { gift: "for Eve" },
    });
    const window = await open(support, `/${person.id}`);
    const { page } = window;
    await page.getByRole("button", { name: "Redact …" }).click();
    const button = page.getByRole("button", { name: "Redact for good" });
    await button.waitFor();
    expect(await findBarriers(window)).toEqual([]);
    const typed = page.getByLabel(`Type ${person.id} to confirm`);
    for (const text of ["", "redact", person.id.slice(0, -1)]) {
      await typed.fill(text);
      expect(await button.isDisabled()).toBe(true);
    }
    await typed.fill(person.id);
    await button.click();
    await page.getByRole("heading", { level: 1, name: "Redacted profile" }).waitFor();
    expect(await page.getByRole("button", { name: /Redact|Merge|Reveal/ }).count()).toBe(0);
    expect(await readProfile(person)).toMatchObject({ status: "redacted", attributes: {}, identifiers: [] });
    // Properties of events go within seconds; the open screen follows.
    await page.getByRole("button", { name: "order.completed" }).click();
    await page.locator(".side-panel").getByText("for Eve").waitFor({ state: "detached" });
    window.expectNoFaults();
  });

  test("attributes are text whatever they hold, and written as they are typed", { timeout: 60_000 }, async () => {
    const person = await newProfile(property);
    const number = "123456789012345678901234567890.10";
    const attributes = `{"name":"<img src=x onerror=alert(1)>${"W".repeat(300)}","<b>bold</b>":"javascript:alert(1)","big":${number},
      "rtl":"\\u202eevil\\u200b","huge":"${"<i>".repeat(60_000)}"}`;
    const { propertyId } = property;
    await daybook().clients.profiles.updateProfile(
      { propertyId, profileId: person.id, attributesJson: attributes, source: "api" },
      testCall,
    );
    const window = await open(support, `/${person.id}?show=attributes`);
    const { page } = window;
    await page.getByRole("heading", { level: 1, name: "<img src=x onerror=alert(1)>WWW" }).waitFor();
    await page.getByRole("cell", { name: number }).waitFor();
    await page.getByRole("button", { name: "Show all 180,002 characters" }).click();
    expect(await page.locator("#screen :is(img, b, i, script, [href^='javascript:'])").count()).toBe(0);
    expect(await findBarriers(window)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 800 });
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await findBarriers(window)).toEqual([]);
    expect(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")).toBe(0);

    await page.getByRole("button", { name: "Edit big" }).click();
    await page.getByLabel("Value", { exact: true }).fill(`[${number}, {"x": 0.10}]`);
    await property.patch(person.path, { attributes: { big: 1 } });
    await page.getByRole("button", { name: "Write" }).click();
    await page.getByText("Somebody changed this profile meanwhile.").waitFor();
    expect(window.takeFaults()).toEqual([expect.stringContaining("console: Failed to load resource")]);
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByText("Its value now:").waitFor();
    await page.getByRole("button", { name: "Write" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const { profiles } = await daybook().clients.profiles.getProfiles(
      { propertyId, profileIds: [person.id] },
      testCall,
    );
    expect(profiles[0]?.attributesJson.replaceAll(/\s/g, "")).toContain(`"big":[${number},{"x":0.10}]`);
    window.expectNoFaults();
  });

  test("identifiers and tags are changed, and a refusal stands at the field", { timeout: 60_000 }, async () => {
    const [person, holder] = [await newProfile(property), await newProfile(property)];
    const [taken] = (await readProfile(holder)).identifiers;
    const window = await open(support, `/${person.id}`);
    const { page } = window;
    await page.getByRole("button", { name: "Add", exact: true }).first().click();
    const dialog = page.getByRole("dialog");
    const field = dialog.getByLabel("Value");
    for (const [text, told] of [
      ["not an email", /email/],
      [taken.value, /profile/],
    ] as const) {
      await field.fill(text);
      await dialog.getByRole("button", { name: "Add the identifier" }).click();
      await dialog.locator(".field-error").filter({ hasText: told }).waitFor();
      expect(await field.getAttribute("aria-invalid")).toBe("true");
    }
    expect(window.takeFaults()).toHaveLength(2);
    await field.fill("New.Address@example.com");
    await dialog.getByRole("button", { name: "Add the identifier" }).click();
    await page.getByText("n•••@example.com").waitFor();
    await page.getByRole("button", { name: /^Change email n/ }).click();
    await page.getByRole("menuitem", { name: /Make primary/ }).click();
    await page.getByText("The email is primary now.").waitFor();
    await page.getByLabel("Add a tag").fill("<b>vip</b>");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Remove the tag <b>vip</b>" }).waitFor();
    const written = await readProfile(person);
    expect(written.tags).toEqual(["<b>vip</b>"]);
    expect(written.identifiers.find((one: { value: string }) => one.value === "new.address@example.com")).toMatchObject(
      {
        is_primary: true,
        source: "dashboard",
      },
    );
    await page.getByRole("button", { name: "Remove the tag <b>vip</b>" }).click();
    await page.getByRole("button", { name: "Remove the tag <b>vip</b>" }).waitFor({ state: "detached" });
    expect((await readProfile(person)).tags).toEqual([]);
    window.expectNoFaults();
  });

  test("one of another property is not found, whichever way", async () => {
    const other = await daybook().newProperty();
    const person = await newProfile(other, { identifiers: [{ type: "email", value: "elsewhere@example.com" }] });
    const window = await open(support, `/${person.id}?ask=redact`);
    const { page } = window;
    await page.getByText("There is no such profile in this property").waitFor();
    await page.getByRole("link", { name: "All profiles" }).click();
    await find(page, "elsewhere@example.com");
    await page.getByText("No profile has exactly this.").waitFor();
    expect(await page.content()).not.toContain(person.id);
    window.expectNoFaults();
  });
});
