/** The example app, and the page of a consent, in a real browser. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { findBarriers, startBrowser, type TestBrowser, type Window } from "../support/browser.ts";
import { testCall, type SingleProcess, type TestProperty } from "../support/daybook.ts";
import { newMember, password } from "../support/members.ts";
import { newApp, startWithOAuth } from "../support/oauth.ts";
import { eventually, freePort, startNode } from "../support/processes.ts";

const owner = new Owner();
let browser: TestBrowser;
let daybook: SingleProcess;
let property: TestProperty;
let appUrl: string;

beforeAll(async () => {
  browser = owner.own(await startBrowser());
  daybook = await startWithOAuth(owner);
  property = await daybook.newProperty();
  const { app } = await newApp(daybook, {
    name: "Last orders",
    description: "Shows the last orders of a shop.",
    scopes: ["accounts:read", "events:read"],
    redirectUris: ["http://127.0.0.1/callback"],
  });
  const port = await freePort();
  const example = owner.own(
    startNode("docs/examples/app/app.mjs", {
      DAYBOOK_URL: daybook.baseUrl,
      CLIENT_ID: app.id,
      PORT: String(port),
    }),
  );
  appUrl = await eventually(() => /http\S+/.exec(example.output())?.[0], { explain: example.output });
  await property.post("/v1/events", {
    type: "order.completed",
    identifier: { type: "email", value: "ada@example.com" },
    properties: { order_id: "1001" },
    value: "49.90",
    currency: "EUR",
  });
}, 120_000);

afterAll(() => owner.close());

/** Faults but for the way between the two sites, which is the point. */
function expectNoFaults(window: Window): void {
  expect(window.takeFaults().filter((fault) => !fault.startsWith(`request: ${appUrl}`))).toEqual([]);
}

describe("the example app", () => {
  test("connects itself, lists orders, refreshes, and uninstalls itself", async () => {
    const { email } = await newMember(daybook, [{ propertyId: property.propertyId, role: Role.DEVELOPER }]);
    const window = owner.own(await browser.open(daybook.baseUrl));
    const { page } = window;
    const referers: (string | undefined)[] = [];
    page.on("request", (request) => {
      if (request.url().startsWith(`${appUrl}/callback`)) referers.push(request.headers().referer);
    });
    await page.goto(appUrl);
    await page.getByRole("button", { name: "Connect to Daybook" }).click();
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Connect Last orders" }).waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await findBarriers(window)).toEqual([]);
      }
    }
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByText("49.90 EUR").waitFor();
    // The app does not learn the address of the page that asked.
    expect(referers).toEqual([undefined]);
    const { installations } = await daybook.clients.apps.listInstallations(
      { propertyId: property.propertyId, limit: 1 },
      testCall,
    );
    expect(await page.textContent("p")).toContain(installations[0]?.id);
    await page.getByRole("button", { name: "Refresh the access" }).click();
    await page.getByText("49.90 EUR").waitFor();
    await page.getByRole("button", { name: "Uninstall" }).click();
    await page.getByText("Not connected.").waitFor();
    expectNoFaults(window);
  });

  test("is told that the member denied", async () => {
    const { cookie } = await newMember(daybook);
    const window = owner.own(await browser.open(daybook.baseUrl));
    await window.context.addCookies([cookie]);
    await window.page.goto(appUrl);
    await window.page.getByRole("button", { name: "Connect to Daybook" }).click();
    await window.page.getByRole("button", { name: "Deny" }).click();
    await window.page.getByText("did not consent").waitFor();
    expect(new URL(window.page.url()).origin).toBe(appUrl);
  });
});
