/** The dashboard in a real browser, under its own policy, against a real Daybook. */
import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { curlOf, sampleCalls } from "../../gateway/dashboard/ui/api-calls.ts";
import { outwardSamples } from "../../gateway/dashboard/ui/outward-calls.ts";
import { screenStates } from "../../gateway/dashboard/ui/screen-states.ts";
import { allScreens, screens } from "../../gateway/dashboard/ui/screens.ts";
import { newInstalledApp } from "../support/apps.ts";
import { findBarriers, startBrowser, type TestBrowser, type Window } from "../support/browser.ts";
import { execute } from "../support/database.ts";
import { describeOnce, type TestProperty } from "../support/daybook.ts";
import { newMember, password, type TestMember } from "../support/members.ts";

/** Parameters that mean nothing are as if they were absent. */
const nonsense = "range=nonsense&show=%00&key=key_1&find=%22&find=2";
const dist = "gateway/dashboard/ui/dist";

describeOnce("the dashboard", (daybook) => {
  const owner = new Owner();
  let browser: TestBrowser;
  let member: TestMember;
  let full: TestProperty;
  let empty: TestProperty;

  beforeAll(async () => {
    browser = owner.own(await startBrowser());
    member = await newMember(daybook());
    full = await daybook().newProperty({ mode: Mode.LIVE });
    empty = await daybook().newProperty({ mode: Mode.TEST });
    for (const value of ["49.90", "123456789012345678.01"]) {
      const identifier = { type: "email", value: "ada@example.com" };
      const event = {
        type: "order.completed",
        identifier,
        value,
        currency: "EUR",
        properties: { "<b>": "<img src=x>" },
      };
      await full.post("/v1/events", event);
    }
    await newInstalledApp(daybook(), full.propertyId);
  });
  afterAll(() => owner.close());

  /** A window of the member. */
  async function open(): Promise<Window> {
    const window = owner.own(await browser.open(daybook().baseUrl));
    await window.context.addCookies([member.cookie]);
    return window;
  }

  /** Goes to a screen and waits until it shows what it has. */
  async function go({ page }: Window, path: string): Promise<void> {
    await page.goto(`/dashboard/${path}`);
    await settle(page);
  }

  test("every screen has no fault and no barrier: full, empty and failing, light and dark, wide and narrow", async () => {
    const window = await open();
    const found: string[] = [];
    for (const place of places()) {
      await go(window, place);
      const seen = place.endsWith(nonsense) ? window.takeFaults() : await look(window);
      found.push(...seen.map((fault) => `${place}: ${fault}`));
    }
    // The network fails: not for the viewer, without whom there is no screen.
    await window.context.route(/\/dashboard\/rpc\/(?!.*GetViewer)/, (route) => route.abort("connectionfailed"));
    for (const { path } of allScreens) {
      await go(window, `${full.propertyId}/${path}`);
      const faults = (await look(window)).filter((fault) => !fault.includes("net::ERR_CONNECTION_FAILED"));
      found.push(...faults.map((fault) => `${path}, failing: ${fault}`));
    }
    expect(found).toEqual([]);
  }, 600_000);

  /** Everything that the table of screens tells, and what there is not. */
  function places(): string[] {
    const names = Object.keys(screens) as (keyof typeof screens)[];
    const known = names.flatMap((path) => [
      `${full.propertyId}/${path}`,
      ...[nonsense, ...(screenStates[path] ?? [])].map((state) => `${full.propertyId}/${path}?${state}`),
      `${empty.propertyId}/${path}`,
    ]);
    return [...known, `${full.propertyId}/nothing`, "prop_00000000000000000000000000/overview"];
  }

  test("a secret is in the page only while its dialog is open, however it is closed", async () => {
    const window = await open();
    const { page } = window;
    const closings = [
      () => page.keyboard.press("Escape"),
      () => page.getByRole("button", { name: "Close" }).click(),
      () => page.getByRole("button", { name: "I have stored it" }).click(),
      () => page.goBack(),
    ];
    await go(window, `${empty.propertyId}/keys`);
    for (const [index, close] of closings.entries()) {
      await page.getByRole("button", { name: "Create a key" }).click();
      await page.getByLabel("Name").fill(`Key ${index}`);
      await page.getByRole("button", { name: "Create the key" }).click();
      const secret = await page.locator(".secret code").textContent();
      expect(secret).toMatch(/^sk_test_[0-9A-Za-z]{40}$/);
      await close();
      await page.locator(".secret").waitFor({ state: "detached" });
      expect(await page.content()).not.toContain(secret);
      await page.getByRole("button", { name: `Key ${index}` }).waitFor();
    }
    window.expectNoFaults();
  });

  test("an old sign-in is asked for the password once, and then what was asked for is done", async () => {
    const other = await newMember(daybook());
    const window = owner.own(await browser.open(daybook().baseUrl));
    await window.context.addCookies([other.cookie]);
    const { page } = window;
    await go(window, `${empty.propertyId}/keys`);
    const hers = `member_id = (SELECT id FROM identity.members WHERE email = '${other.email}')`;
    await execute(daybook().databaseUrl, `UPDATE identity.member_sessions SET fresh_until = now() WHERE ${hers}`);
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByLabel("Name").fill("After the password");
    await page.getByRole("button", { name: "Create the key" }).click();
    for (const typed of ["not her password", password]) {
      await page.getByRole("textbox", { name: "Password" }).fill(typed);
      await page.getByRole("button", { name: "Continue" }).click();
      if (typed !== password) await page.getByText("This is not your password.").waitFor();
    }
    expect(await page.locator(".secret code").textContent()).toMatch(/^sk_test_/);
    // The browser reports the refusals of the calls, and nothing else.
    expect(window.takeFaults().filter((fault) => !/status of 40[13]/.test(fault))).toEqual([]);
  });

  test("the keyboard goes everywhere, and typing is only typing", async () => {
    const window = await open();
    const { page } = window;
    await go(window, `${full.propertyId}/overview`);
    for (const { letter, path, title } of allScreens) {
      await page.keyboard.press("g");
      await page.keyboard.press(letter);
      await page.waitForURL(`**/${full.propertyId}/${path}`);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
    }
    await page.goto(`/dashboard/${full.propertyId}/keys`);
    await settle(page);
    await page.keyboard.press("/");
    await page.keyboard.type("g o ? j k .");
    expect(await page.getByRole("searchbox").inputValue()).toBe("g o ? j k .");
    await page.getByRole("searchbox").fill("");
    await page.getByRole("searchbox").blur();
    // A row opens, and gives the focus back.
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.locator(".side-panel").waitFor();
    expect(page.url()).toContain("key=key_");
    await page.keyboard.press("Escape");
    await page.locator(".side-panel").waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.className")).toBe("row-open");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    await page.keyboard.type(full.keyId);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/keys?key=${full.keyId}`);
    window.expectNoFaults();
  });

  test("an ended session leads to the sign-in, and back to the same place", async () => {
    const other = await newMember(daybook());
    const window = await browser.open(daybook().baseUrl);
    const { page } = window;
    const place = `/dashboard/${full.propertyId}/keys?show=all`;
    await page.goto(place);
    await page.waitForURL("**/dashboard/sign-in?**");
    await page.getByLabel("Email").fill(other.email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`**${place}`);
    await settle(page);
    window.expectNoFaults();
    await window.context.clearCookies();
    await page.keyboard.press("g");
    await page.keyboard.press("u");
    await page.waitForURL("**/dashboard/sign-in?**");
    expect(new URL(page.url()).searchParams.get("next")).toBe(`/dashboard/${full.propertyId}/account`);
  });

  test.each(Object.entries({ ...sampleCalls, ...outwardSamples }))(
    "the call %s works as curl shows it",
    async (_name, sample) => {
      const { body } = await full.get("/v1/events");
      const call = { ...sample, path: sample.path.replace("{event}", body.data[0].id as string) };
      const env = { ...process.env, DAYBOOK_KEY: full.secret };
      const shown = `${curlOf(call, daybook().baseUrl)} --silent --show-error --fail-with-body`;
      await expect(promisify(execFile)("sh", ["-c", shown], { env })).resolves.toBeTruthy();
    },
  );
});

const rulesOf = {
  dark: ["color-contrast"],
  light: ["target-size", "scrollable-region-focusable", "aria-hidden-focus", "region"],
};

const modes = [
  { width: 1280, colorScheme: "light" },
  { width: 1280, colorScheme: "dark" },
  { width: 320, colorScheme: "dark" },
  { width: 320, colorScheme: "light" },
] as const;

/** Faults and barriers of what a window shows, in each mode. */
async function look(window: Window): Promise<string[]> {
  const { page } = window;
  const found: string[] = [];
  for (const { width, colorScheme } of modes) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    // The dark has other colors and nothing else; a narrow window has other places and sizes.
    const isOther = width !== 1280 || colorScheme !== "light";
    const barriers = await findBarriers(window, isOther ? rulesOf[colorScheme] : undefined);
    const excess = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    if (excess > 0) barriers.push(`${excess} pixels wider than the window`);
    found.push(...barriers.map((barrier) => `${width} ${colorScheme}: ${barrier}`));
  }
  return [...found, ...window.takeFaults()];
}

/** Waits until nothing loads any more. */
async function settle(page: Window["page"]): Promise<void> {
  await page.locator("h1, .error-state h2").first().waitFor();
  await page.locator(".skeleton").first().waitFor({ state: "detached" });
}

test("the first load is at most 200 KB, and charts at most 110 KB more", async () => {
  const manifest = JSON.parse(await readFile(`${dist}/manifest.json`, "utf8")) as Record<
    string,
    { file: string; css?: string[]; imports?: string[]; isDynamicEntry?: boolean }
  >;
  const filesOf = (name: string, seen = new Set<string>()): Set<string> => {
    const chunk = manifest[name];
    if (!chunk || seen.has(chunk.file)) return seen;
    for (const file of [chunk.file, ...(chunk.css ?? [])]) seen.add(file);
    for (const other of chunk.imports ?? []) filesOf(other, seen);
    return seen;
  };
  const kilobytes = async (files: Iterable<string>): Promise<number> => {
    const sizes = await Promise.all([...files].map(async (file) => (await stat(`${dist}/${file}.gz`)).size));
    return sizes.reduce((sum, size) => sum + size, 0) / 1000;
  };
  const shell = filesOf("index.html");
  const files = Object.keys(manifest).filter((name) => /^screens\/\w+\/[\w-]+-screen\.tsx$/.test(name));
  expect(files.length).toBe(allScreens.length);
  for (const screen of files) {
    expect(await kilobytes(shell.union(filesOf(screen))), screen).toBeLessThanOrEqual(200);
  }
  const charts = filesOf("components/chart-drawing.tsx");
  expect(await kilobytes(charts.difference(shell))).toBeLessThanOrEqual(110);
});
