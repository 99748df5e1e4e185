/** Metrics, schemas and jobs in a real browser: what is shown, saved and linked is what was recorded. */
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { findBarriers, startBrowser, type TestBrowser, type Window } from "../support/browser.ts";
import { describeOnce, type TestProperty } from "../support/daybook.ts";
import { newMember } from "../support/members.ts";
import { eventually } from "../support/processes.ts";
import { pick, random } from "../support/random.ts";

const zone = "America/New_York";
// Ten days of New York, one of which has 23 hours.
const from = "2026-03-05T05:00:00Z";
const to = "2026-03-15T04:00:00Z";
const range = `${from}~${to}`;
const dates = Array.from({ length: 10 }, (_, day) => `2026-03-${String(5 + day).padStart(2, "0")}`);
const plans = ["gold", '=HYPERLINK("http://evil.example")', "-2+3", 'a "b", c', "<img src=x>"];

interface Known {
  date: string;
  plan: string;
  currency: string;
  cents: bigint;
}

describeOnce("metrics of the dashboard", (daybook) => {
  const owner = new Owner();
  let browser: TestBrowser;
  let property: TestProperty;
  const known: Known[] = [];
  const metricIds = new Map<string, string>();

  beforeAll(async () => {
    browser = owner.own(await startBrowser());
    property = await daybook().newProperty({ mode: Mode.LIVE });
    for (let index = 0; index < 40; index++) {
      const day = random(dates.length);
      const currency = index % 2 === 0 ? "EUR" : "USD";
      // Floating-point numbers round some of these, alone and together.
      const cents = index < 3 ? 900_719_925_474_099_301n : BigInt(random(100_000));
      const one = { date: dates[day] as string, plan: index === 0 ? "gold" : pick(plans), currency, cents };
      known.push(one);
      // Early and late on the day of New York: late is the next day of UTC.
      const early = Date.parse(`${one.date}T05:15:00Z`);
      const occurredAt = new Date(index % 3 === 0 ? early + 22 * 3_600_000 : early);
      await property.post("/v1/events", {
        type: "order.completed",
        identifier: { type: "email", value: `p${index % 7}@example.com` },
        properties: { plan: one.plan, coupon: index % 4 === 0 ? 17 : "SPRING", items: [{ sku: "TEA" }] },
        value: decimal(cents),
        currency,
        occurred_at: occurredAt.toISOString(),
      });
    }
    for (const metric of (await property.get("/v1/metrics")).body.data) metricIds.set(metric.name, metric.id);
  });
  afterAll(() => owner.close());

  async function open(role: Role = Role.ADMIN): Promise<Window> {
    const member = await newMember(daybook(), [{ role }]);
    const window = owner.own(await browser.open(daybook().baseUrl));
    await window.context.addCookies([member.cookie]);
    return window;
  }

  const metricPath = (search: Record<string, string>): string =>
    `/dashboard/${property.propertyId}/metrics/${metricIds.get("order.completed")}?${new URLSearchParams(search).toString()}`;

  /** The sum in cents of what was recorded. */
  function sumOf(filter: Partial<Known>): bigint {
    return known
      .filter((one) => Object.entries(filter).every(([name, value]) => one[name as keyof Known] === value))
      .reduce((sum, { cents }) => sum + cents, 0n);
  }

  test("table, file and chart agree with what was recorded, beyond 2^53 and in two currencies", async () => {
    const window = await open();
    const { page } = window;
    const view = { range, zone, interval: "day", show: "sum" };
    await page.goto(metricPath({ ...view, by: "properties.plan", form: "table" }));
    const groups = new Set(known.map(({ plan, currency }) => `${plan}|${currency}`)).size;
    const more = page.getByRole("button", { name: /^Show \d+ more/ });
    await page.locator("table tbody tr").first().waitFor();
    while (await more.isVisible()) await more.click();
    const shown = await rowsOf(page);
    expect(shown.length).toBe(groups * dates.length);
    for (const [at, plan, currency, value] of shown) {
      const date = civilDate(new Date(at as string));
      expect([date, plan, currency, centsOf(value as string)]).toEqual([
        date,
        plan,
        currency,
        sumOf({ date, plan: plan as string, currency: currency as string }),
      ]);
    }

    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download CSV" }).click(),
    ]);
    const text = await readFile(await download.path(), "utf8");
    expect(download.suggestedFilename()).toMatch(/^order\.completed-sum_value-2026-03-05_2026-03-15\.csv$/);
    const [header, ...saved] = parseCsv(text.replace("\uFEFF", ""));
    expect(header).toEqual(["from", "properties.plan", "currency", "sum_value"]);
    // A spreadsheet runs none of the values.
    const isFormula = (value: string): boolean => /^[=+\-@]/.test(value);
    expect(saved.flat().filter((value) => isFormula(value))).toEqual([]);
    expect(saved.some(([, plan]) => plan === `'${plans[1]}`)).toBe(known.some(({ plan }) => plan === plans[1]));
    expect(
      saved.map(([at, plan, currency, value]) => [at, plan?.replace(/^'/, ""), currency, centsOf(value ?? "")]),
    ).toEqual(shown.map(([at, plan, currency, value]) => [at, plan, currency, centsOf(value ?? "")]));

    await page.goto(metricPath(view));
    for (const currency of ["EUR", "USD"]) {
      const chart = page.getByRole("application", { name: `Sum of values in ${currency}` });
      await chart.focus();
      for (const date of dates) {
        await page.keyboard.press("ArrowRight");
        const readout = await page.locator("figure", { has: chart }).getByRole("status").textContent();
        const value = readout?.split(currency)[1] ?? "";
        expect([date, currency, centsOf(value)]).toEqual([date, currency, sumOf({ date, currency })]);
      }
    }
    const figures = page.locator(".figures");
    await figures.getByText("40", { exact: true }).waitFor();
    await figures.getByText("7", { exact: true }).waitFor();
    for (const currency of ["EUR", "USD"]) {
      const amount = await figures.locator(".metric-sums > span", { hasText: currency }).textContent();
      expect(centsOf(amount ?? "")).toBe(sumOf({ currency }));
    }
    expect(await findBarriers(window)).toEqual([]);
    window.expectNoFaults();
  });

  test("the address restores the view, and is the same question to the API", async () => {
    const window = await open();
    const { page } = window;
    await page.goto(metricPath({ range }));
    await page.getByLabel("Interval").selectOption("week");
    await page.getByLabel("Time zone").selectOption(zone);
    await page.getByLabel("Group by").selectOption("properties.plan");
    await page.getByLabel("And by").selectOption("currency");
    await page.getByRole("button", { name: "Add a condition" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox", { name: "Field" }).fill("properties.coupon");
    await dialog.getByLabel("Is", { exact: true }).selectOption("number");
    await dialog.getByLabel("Value").fill("seventeen");
    await dialog.getByRole("button", { name: "Add" }).click();
    await dialog.getByText("Give a number such as 49.9").waitFor();
    await dialog.getByLabel("Value").fill("17");
    await dialog.getByRole("button", { name: "Add" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("radio", { name: "Table" }).check();
    await page.getByText("properties.coupon is 17").waitFor();
    await page.locator("table tbody tr").first().waitFor();
    const rows = await rowsOf(page);
    const coupons = rows.reduce((sum, row) => sum + Number(row.at(-1)), 0);
    expect(coupons).toBe(10);

    const other = await open(Role.VIEWER);
    await other.page.goto(page.url());
    await other.page.locator("table tbody tr").first().waitFor();
    expect(await rowsOf(other.page)).toEqual(rows);
    expect(await controlsOf(other.page)).toEqual(await controlsOf(page));

    await page.getByRole("button", { name: "API" }).click();
    const curl = (await page.getByRole("dialog").locator("code").first().textContent()) ?? "";
    const body = JSON.parse(/-d '(.*)'/s.exec(curl)?.[1] ?? "") as object;
    const { series } = (await property.post("/v1/metric-aggregates", body)).body.data;
    expect(
      series.flatMap(({ count }: { count: number[] }) => count).reduce((sum: number, one: number) => sum + one),
    ).toBe(10);
    for (const one of [window, other]) one.expectNoFaults();
  });

  test("a question that is refused says what to do, and does it", async () => {
    const window = await open();
    const { page } = window;
    await page.goto(metricPath({ range, by: "properties.items[].sku" }));
    await page.getByRole("heading", { name: "This field lies within a list" }).waitFor();
    await page.getByRole("button", { name: "Do not group or filter" }).click();
    await page.getByRole("application", { name: "Events" }).waitFor();
    await page.goto(metricPath({ range: "1990-01-01T00:00Z~2026-01-01T00:00Z", interval: "hour" }));
    await page.getByRole("heading", { name: "Too many intervals" }).waitFor();
    await page.getByRole("button", { name: "By month" }).click();
    await page.getByRole("application", { name: "Events" }).waitFor();
    // Both were refused by the server.
    expect(window.takeFaults().every((fault) => fault.includes("400"))).toBe(true);
  });

  test("a metric is made, described and found; who only views cannot", async () => {
    const window = await open();
    const { page } = window;
    const name = `loyalty.joined${random(1_000_000)}`;
    await page.goto(`/dashboard/${property.propertyId}/metrics?create=yes`);
    await page.getByLabel("Name").fill(name);
    await page.getByRole("button", { name: "Create the metric" }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.getByRole("button", { name: "Describe" }).click();
    await page.getByLabel("Description").fill("<b>Joined</b> the programme");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("<b>Joined</b> the programme").waitFor();
    await page.goto(`/dashboard/${property.propertyId}/metrics?find=programme`);
    await page.getByRole("link", { name }).waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
    window.expectNoFaults();

    const viewer = await open(Role.VIEWER);
    await viewer.page.goto(`/dashboard/${property.propertyId}/metrics?create=yes`);
    await viewer.page.getByRole("link", { name }).click();
    await viewer.page.getByRole("heading", { level: 1, name }).waitFor();
    expect(await viewer.page.getByRole("button", { name: "Describe" }).count()).toBe(0);
    viewer.expectNoFaults();
  });

  test("a path with two types is a conflict, with the types that the latest events have", async () => {
    const window = await open(Role.VIEWER);
    const { page } = window;
    await page.goto(`/dashboard/${property.propertyId}/schemas?show=conflicts`);
    await page.getByRole("button", { name: "order.completed" }).click();
    await page.getByRole("button", { name: "Types of coupon" }).click();
    const types = page.locator(".schema-types");
    await types.getByText("In the latest 40 events:").waitFor();
    expect(await types.locator("li").allTextContents()).toEqual([
      expect.stringMatching(/^string in 30,/),
      expect.stringMatching(/^number in 10,/),
    ]);
    window.expectNoFaults();
  });

  test("a refused item of an import shows where and why, and no identifier", async () => {
    const secret = `hidden-${random(1_000_000)}@example.com`;
    const first = await property.post("/v1/profiles", { identifiers: [{ type: "email", value: secret }] });
    await property.post("/v1/profiles", { identifiers: [{ type: "external_id", value: "other" }] });
    const profiles = [
      { type: "profile", attributes: { email: secret, external_id: "other", first_name: "<b>Eve</b>" } },
      { type: "profile", attributes: { email: "imported@example.com" } },
    ];
    const attributes = { profiles: { data: profiles } };
    const job = await property.post("/api/profile-bulk-import-jobs", {
      data: { type: "profile-bulk-import-job", attributes },
    });
    expect([first.status, job.status]).toEqual([201, 202]);
    await eventually(async () => {
      const { body } = await property.get(`/api/profile-bulk-import-jobs/${job.body.data.id}`);
      return body.data.attributes.status === "complete" || undefined;
    });
    const window = await open();
    const { page } = window;
    await page.goto(`/dashboard/${property.propertyId}/jobs?state=complete`);
    await page.getByText("Complete, with failures").waitFor();
    await page.locator(".row-open").first().click();
    const failure = page.locator(".failures li");
    await failure.getByText("Item 0").waitFor();
    expect(await failure.locator("code").allTextContents()).toEqual([
      "identifiers.0",
      "identity_conflict",
      "identifiers.1",
      "identity_conflict",
    ]);
    await failure.getByText("The item as it was sent").click();
    await failure.getByText('"<b>Eve</b>"').waitFor();
    await page.getByRole("heading", { name: "Profiles written" }).waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(await findBarriers(window)).toEqual([]);
    window.expectNoFaults();
  });
});

/** What the table shows: instants exact, other cells as text. */
async function rowsOf(page: Page): Promise<string[][]> {
  const rows: Locator[] = await page.locator("table tbody tr").all();
  return Promise.all(
    rows.map(async (row) => {
      const [, ...cells] = await row.locator("td").allTextContents();
      return [(await row.locator("time").getAttribute("datetime")) ?? "", ...cells];
    }),
  );
}

async function controlsOf(page: Page): Promise<string[]> {
  const selects = await page.locator(".metric-controls select").all();
  const chosen = await Promise.all(selects.map((select) => select.inputValue()));
  return [...chosen, (await page.locator(".metric-controls .toolbar").textContent()) ?? ""];
}

/** 9,007.01 and €9,007.01 in cents. */
function centsOf(text: string): bigint {
  const [, sign = "", whole = "", part = ""] = /(-?)[^\d-]*([\d,]+)(?:\.(\d{1,2}))?/.exec(text) ?? [];
  return BigInt(`${sign}${whole.replaceAll(",", "")}${part.padEnd(2, "0")}`);
}

function decimal(amount: bigint): string {
  return `${amount / 100n}.${String(amount % 100n).padStart(2, "0")}`;
}

function civilDate(at: Date): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" }).format(at);
}

/** RFC 4180. */
function parseCsv(text: string): string[][] {
  return text
    .split("\r\n")
    .slice(0, -1)
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
        quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'),
      ),
    );
}
