/** Apps and installations in a real browser, against a real Daybook. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { AppStatus, AppType, InstallationStatus, RevokedReason } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { scopes } from "../../services/identity/domain/scopes.ts";
import { install, newInstalledApp } from "../support/apps.ts";
import { findBarriers, startBrowser, type TestBrowser, type Window } from "../support/browser.ts";
import { describeOnce, testCall, type TestProperty } from "../support/daybook.ts";
import { newMember, type TestMember } from "../support/members.ts";

describeOnce("apps", (daybook) => {
  const owner = new Owner();
  let browser: TestBrowser;
  let property: TestProperty;

  beforeAll(async () => {
    browser = owner.own(await startBrowser());
    property = await daybook().newProperty({ mode: Mode.LIVE });
  });
  afterAll(() => owner.close());

  async function openAs(member: TestMember): Promise<Window> {
    const window = owner.own(await browser.open(daybook().baseUrl));
    await window.context.addCookies([member.cookie]);
    return window;
  }

  test("an app is made with its faults at their fields, has its secret replaced and its addresses changed, and is suspended", async () => {
    const window = await openAs(await newMember(daybook()));
    const { page } = window;
    const closeBy = async (name: string): Promise<void> => {
      const secret = (await page.locator(".secret code").textContent()) ?? "";
      expect(secret).toMatch(/^cs_[0-9A-Za-z]{43}$/);
      expect(await findBarriers(window)).toEqual([]);
      await page.getByRole("button", { name, exact: true }).click();
      await page.locator(".secret").waitFor({ state: "detached" });
      expect(await page.content()).not.toContain(secret);
    };
    await page.goto(`/dashboard/${property.propertyId}/apps?in=all`);
    await page.getByRole("button", { name: "Create an app" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Parcels <b>");
    await dialog.getByLabel("Homepage").fill("javascript:alert(1)");
    await dialog.getByLabel("Redirect addresses").fill("https://app.example.com/back\nhttp://app.example.com/back");
    await dialog.getByLabel("Read events: what each customer did").check();
    await dialog.getByLabel("Record events").check();
    await dialog.getByRole("button", { name: "Create the app" }).click();
    await dialog.getByText(/^Line 2 must begin with https:/).waitFor();
    await dialog.getByText("`homepage_url` must").waitFor();
    expect(await dialog.locator("[aria-invalid]").count()).toBe(2);
    expect(await findBarriers(window)).toEqual([]);
    await dialog.getByLabel("Homepage").fill("https://parcels.example.com/about");
    await dialog.getByLabel("Redirect addresses").fill("https://app.example.com/back");
    await dialog.getByRole("button", { name: "Create the app" }).click();
    const metadata = `${daybook().baseUrl}/.well-known/oauth-authorization-server`;
    await page.getByRole("button", { name: `Copy ${metadata}` }).waitFor();
    await closeBy("I have stored it");
    const appId = new URL(page.url()).searchParams.get("app") ?? "";
    const read = async () => (await daybook().clients.apps.getApp({ appId }, testCall)).app;
    expect(await read()).toMatchObject({
      name: "Parcels <b>",
      homepageUrl: "https://parcels.example.com/about",
      redirectUris: ["https://app.example.com/back"],
      scopes: ["events:read", "events:write"],
      type: AppType.CONFIDENTIAL,
    });
    const panel = page.locator(".side-panel");
    await panel.getByRole("heading", { name: "Parcels <b>" }).waitFor();
    expect(await panel.locator("a[href^='https://parcels']").count()).toBe(1);

    // Its secret is replaced.
    const first = (await read())?.secrets[0]?.displayPrefix ?? "";
    await panel.getByRole("button", { name: "Add a secret" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Add the secret" }).click();
    await closeBy("Close");
    await panel.getByRole("button", { name: `Remove the secret ${first}` }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove the secret" }).click();
    await panel.getByText("To replace it, add another").waitFor();
    expect((await read())?.secrets.map(({ displayPrefix }) => displayPrefix)).not.toContain(first);
    expect(await findBarriers(window)).toEqual([]);

    await panel.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Redirect addresses").fill("https://app.example.com/back\n\n https://app.example.com/2 ");
    await dialog.getByLabel("Homepage").fill("");
    await dialog.getByLabel("Webhook").fill("https://app.example.com/daybook");
    await dialog.getByLabel("Types of messages").fill("event.recorded\nevent.lost");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/^Line 2 must be a type of messages/).waitFor();
    await dialog.getByLabel("Types of messages").fill("event.recorded");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const changed = await read();
    expect(changed?.redirectUris).toEqual(["https://app.example.com/back", "https://app.example.com/2"]);
    expect(changed?.webhook).toMatchObject({ url: "https://app.example.com/daybook", types: ["event.recorded"] });
    await panel.getByText("https://app.example.com/daybook").waitFor();
    expect([changed?.name, changed?.homepageUrl]).toEqual(["Parcels <b>", undefined]);

    const { propertyId } = property;
    if (changed) await install(daybook(), propertyId, changed);
    await panel.getByRole("button", { name: "Suspend" }).click();
    const asked = page.getByRole("alertdialog");
    await asked.getByText("It loses its access within 5 seconds, in one property:").waitFor();
    expect(await findBarriers(window)).toEqual([]);
    await asked.getByRole("button", { name: "Suspend the app" }).click();
    await panel.getByRole("button", { name: "Activate" }).waitFor();
    expect(await read()).toMatchObject({ status: AppStatus.SUSPENDED });
    // What ended with it says so, there and in the property.
    await panel.getByRole("link", { name: "Test" }).click();
    await page.waitForURL(`**/${propertyId}/apps?**installation=inst_**`);
    await panel.getByText("The app was suspended in all properties.").waitFor();
    const faults = window.takeFaults();
    expect(faults.filter((fault) => !fault.includes("status of 4"))).toEqual([]);
  });

  test("an installation says what it may, personal data first, and is ended by the people of its property", async () => {
    const { propertyId } = property;
    const { app, installationId } = await newInstalledApp(daybook(), propertyId, { name: "Loyalty" });
    const window = await openAs(await newMember(daybook(), [{ propertyId, role: Role.DEVELOPER }]));
    const { page } = window;
    // The apps of all are for others, and the address changes nothing of it.
    await page.goto(`/dashboard/${propertyId}/apps?in=all&create=yes&app=${app.id}`);
    await page.getByRole("button", { name: "Loyalty" }).click();
    await page.waitForURL(`**installation=${installationId}`);
    expect(await page.getByText("All apps").count()).toBe(0);
    const panel = page.locator(".side-panel");
    await panel.locator(".scope-words li").first().waitFor();
    expect(await panel.locator(".scope-words code").allTextContents()).toEqual(["profiles:read", "events:write"]);
    expect(await findBarriers(window)).toEqual([]);
    await panel.getByRole("button", { name: "Uninstall" }).click();
    const asked = page.getByRole("alertdialog");
    expect(await asked.textContent()).toContain("Record events");
    expect(await findBarriers(window)).toEqual([]);
    await asked.getByRole("button", { name: "Uninstall the app" }).click();
    await panel.getByText("Somebody of this property uninstalled it.").waitFor();
    const { apps } = daybook().clients;
    const { installation } = await apps.getInstallation({ propertyId, installationId }, testCall);
    expect(installation).toMatchObject({
      status: InstallationStatus.REVOKED,
      revokedReason: RevokedReason.UNINSTALLED,
    });
    // It has lost its place among those with access, and its name is read in another way.
    await page.keyboard.press("Escape");
    await page.getByRole("radio", { name: "Ended" }).check();
    await page.getByRole("button", { name: "Loyalty" }).waitFor();
    window.expectNoFaults();
  });

  test("long names and addresses, and all scopes, make the page neither wider nor longer than its window", async () => {
    const { propertyId } = property;
    const address = `https://app.example.com/${"b".repeat(1_900)}`;
    const { app, installationId } = await newInstalledApp(daybook(), propertyId, {
      name: "W".repeat(255),
      description: "d".repeat(1_000),
      homepageUrl: address,
      redirectUris: [address],
      scopes: [...scopes],
    });
    const window = await openAs(await newMember(daybook()));
    const { page } = window;
    for (const state of [`installation=${installationId}`, `in=all&app=${app.id}`]) {
      await page.goto(`/dashboard/${propertyId}/apps?${state}`);
      await page.locator(".side-panel .scope-words li").first().waitFor();
      for (const closed of await page.locator("summary").all()) await closed.click();
      await page.setViewportSize({ width: 320, height: 800 });
      expect(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")).toBe(0);
      // Beside the table the panel scrolls, not the page, which ends where the table or its window does.
      await page.setViewportSize({ width: 1280, height: 800 });
      const below =
        "document.documentElement.scrollHeight - scrollY - document.querySelector('table').getBoundingClientRect().bottom";
      expect(await page.evaluate<number>(below)).toBeLessThan(1_200);
    }
    window.expectNoFaults();
  });
});
