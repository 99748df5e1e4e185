/** Live: complete, or it says what it left out. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { startBrowser, type TestBrowser, type Window } from "../support/browser.ts";
import { describeOnce, type TestProperty } from "../support/daybook.ts";
import { newMember, type TestMember } from "../support/members.ts";
import { eventually } from "../support/processes.ts";
import { startProxy } from "../support/proxy.ts";

type Page = Window["page"];

// More than a frame shows, and less than the table keeps.
const burst = 90;

describeOnce("live events", (daybook) => {
  const owner = new Owner();
  let browser: TestBrowser;
  let member: TestMember;
  beforeAll(async () => {
    browser = owner.own(await startBrowser());
    member = await newMember(daybook());
  });
  afterAll(() => owner.close());

  /** A window of the member, at an address of her Daybook. */
  async function open(baseUrl: string = daybook().baseUrl): Promise<Window> {
    const window = owner.own(await browser.open(baseUrl));
    const name = `daybook-${new URL(baseUrl).port}`;
    await window.context.addCookies([{ name, value: member.token, url: baseUrl }]);
    return window;
  }

  /** Shows Live, and waits until it has begun. */
  async function goLive(page: Page, { propertyId }: TestProperty, filter = ""): Promise<void> {
    await page.goto(`/dashboard/${propertyId}/events?live=on${filter}`);
    await page.locator('.live-bar[data-state="open"] .live-totals').waitFor();
  }

  let values = 0;

  /** Records events of which each has a value of its own. */
  async function record(property: TestProperty, count: number): Promise<void> {
    const events = Array.from({ length: count }, () => ({
      type: "order.completed",
      identifier: { type: "email", value: "ada@example.com" },
      properties: {},
      value: `${++values}.00`,
      currency: "EUR",
    }));
    const { status } = await property.post("/v1/events/batch", { events });
    expect(status).toBe(200);
  }

  const totals = async (page: Page): Promise<{ shown: number; skipped: number }> =>
    page.locator(".live-totals").evaluate(
      /* Runs in the page. */ (element) => {
        const { shown, skipped } = (element as unknown as { dataset: Record<string, string> }).dataset;
        return { shown: Number(shown), skipped: Number(skipped) };
      },
    );

  /** Waits for a total, and holds the rows against it: as many as are shown, none twice, gaps that add up. */
  async function expectTotal(page: Page, total: number): Promise<void> {
    const seen = await eventually(
      async () => {
        const now = await totals(page);
        return now.shown + now.skipped >= total ? now : undefined;
      },
      { explain: () => `${total} events are not told of` },
    );
    expect(seen.shown + seen.skipped).toBe(total);
    const rows = await page.locator("tbody tr").allInnerTexts();
    const gaps = rows.flatMap((row) => /\+([\d,]+) more/.exec(row)?.[1]?.replaceAll(",", "") ?? []);
    const shown = rows.flatMap((row) => /€[\d,.]+/.exec(row)?.[0] ?? []);
    expect(gaps.map(Number).reduce((sum, count) => sum + count, 0)).toBe(seen.skipped);
    expect(shown.length).toBe(seen.shown);
    expect(new Set(shown).size).toBe(shown.length);
  }

  test("shows or counts each event once, while the connection breaks in a burst", async () => {
    const property = await daybook().newProperty();
    const proxy = owner.own(await startProxy());
    proxy.sendTo(Number(new URL(daybook().baseUrl).port));
    const { page } = await open(`http://127.0.0.1:${proxy.port}`);
    await goLive(page, property);
    await record(property, 3);
    await expectTotal(page, 3);
    await record(property, burst);
    proxy.breakAfter(0);
    await page.locator('.live-bar[data-state="lost"]').waitFor();
    await record(property, burst);
    proxy.breakAfter(Number.POSITIVE_INFINITY);
    await record(property, burst);
    await expectTotal(page, 3 + 3 * burst);
    // Events of the platform itself, such as the profile's, are neither shown nor counted.
    expect(await page.getByText("profile.created").count()).toBe(0);
  });

  test("a pause leaves nothing out, and one stream serves two tabs and outlives each", async () => {
    const property = await daybook().newProperty();
    const window = await open();
    const streams: string[] = [];
    window.context.on("request", (request) => {
      if (request.url().includes("/live")) streams.push(request.url());
    });
    const first = window.page;
    await goLive(first, property);
    const second = await window.context.newPage();
    await goLive(second, property);
    await record(property, 2);
    await expectTotal(first, 2);
    await expectTotal(second, 2);
    expect(streams.length).toBe(1);

    await second.keyboard.press(".");
    await second.locator('.live-bar[data-state="paused"]').waitFor();
    await record(property, burst);
    await expectTotal(first, 2 + burst);
    await expectTotal(second, 2);
    // Resumes while more comes.
    await second.keyboard.press(".");
    await record(property, burst);
    await expectTotal(first, 2 + 2 * burst);
    await expectTotal(second, 2 + 2 * burst);

    await first.close();
    await record(property, burst);
    await expectTotal(second, 2 + 3 * burst);
    window.expectNoFaults();
  });

  test("a filter holds for what is live", async () => {
    const property = await daybook().newProperty();
    const { page } = await open();
    await goLive(page, property);
    // As somebody types it: a type that no event has had yet is not among the suggestions.
    await page.getByRole("combobox", { name: "Type" }).fill("order.refunded");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/events?**type=order.refunded**");
    await page.locator('.live-bar[data-state="open"] .live-totals').waitFor();
    await record(property, 5);
    const { body } = await property.post("/v1/events", {
      type: "order.refunded",
      identifier: { type: "email", value: "ada@example.com" },
      properties: {},
      value: "7.00",
      currency: "EUR",
    });
    await expectTotal(page, 1);
    await page.getByRole("button", { name: "order.refunded" }).click();
    await page
      .getByRole("complementary")
      .getByText(body.data.id as string)
      .waitFor();
  });

  test("ends with the session, in every tab", async () => {
    const property = await daybook().newProperty();
    const other = await newMember(daybook());
    const window = await open();
    await window.context.addCookies([other.cookie]);
    const pages = [window.page, await window.context.newPage()];
    for (const page of pages) await goLive(page, property);
    const signOut = await window.context.request.post(
      `${daybook().baseUrl}/dashboard/rpc/daybook.dashboard.v1.DashboardService/SignOut`,
      { data: {}, headers: { "sec-fetch-site": "same-origin" } },
    );
    expect(signOut.status()).toBe(200);
    for (const page of pages) await page.waitForURL("**/dashboard/sign-in?next=**");
  });

  test("values of others are text, whatever is in them", async () => {
    const property = await daybook().newProperty();
    const hostile = {
      "<img src=x onerror=alert(1)>": "<script>alert(1)</script>",
      link: "javascript:alert(1)",
      right: "\u202Eevil\u2066\u200B",
      number: "12345678901234567890.123456789",
      long: "w".repeat(200_000),
    };
    const properties = JSON.stringify(hostile).replace('"12345678901234567890.123456789"', "12345678901234567890.5");
    const dedupeId = `"><b>${"d".repeat(250)}`;
    const head = '{"type":"order.completed","identifier":{"type":"email","value":"ada@example.com"}';
    const { status, body } = await property.post(
      "/v1/events",
      `${head},"dedupe_id":${JSON.stringify(dedupeId)},"properties":${properties}}`,
    );
    expect(status).toBe(201);
    const window = await open();
    const { page } = window;
    await page.goto(`/dashboard/${property.propertyId}/events?event=${body.data.id}`);
    const panel = page.getByRole("complementary");
    await panel.getByText("<script>alert(1)</script>").waitFor();
    for (const text of [dedupeId, hostile.link, "12345678901234567890.5", "\u202Eevil\u2066\u200B"]) {
      expect(await panel.innerText()).toContain(text);
    }
    expect(await panel.locator("img, script, b, a:not(.id-link)").count()).toBe(0);
    window.expectNoFaults();
  });
});
