/** Webhooks, rejected writes and privacy requests in a real browser, against a real Daybook. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { PrivacyRequestStatus, PrivacyRequestType } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { EndpointStatus } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { webhookTypes } from "#shared/values/webhook-types.ts";
import { messageTypes, otherTypes } from "../../gateway/dashboard/ui/screens/webhooks/types.ts";
import { findBarriers, startBrowser, type TestBrowser, type Window } from "../support/browser.ts";
import { describeOnce, testCall, type TestProperty } from "../support/daybook.ts";
import { newMember } from "../support/members.ts";
import { keepDelivery, keepRejectedWrite, newEndpoint } from "../support/outward.ts";
import { eventually } from "../support/processes.ts";

describeOnce("what comes out of Daybook by itself", (daybook) => {
  const owner = new Owner();
  let browser: TestBrowser;
  let property: TestProperty;

  beforeAll(async () => {
    browser = owner.own(await startBrowser());
    property = await daybook().newProperty({ mode: Mode.LIVE });
  });
  afterAll(() => owner.close());

  /** A window of a member with a role in the property. */
  async function openAs(role: Role): Promise<Window> {
    const member = await newMember(daybook(), [{ propertyId: property.propertyId, role }]);
    const window = owner.own(await browser.open(daybook().baseUrl));
    await window.context.addCookies([member.cookie]);
    return window;
  }

  test("a webhook is made, shows its secret once, is changed, rotated, disabled and deleted", async () => {
    const { propertyId } = property;
    const { webhooks } = daybook().clients;
    const window = await openAs(Role.DEVELOPER);
    const { page } = window;
    await page.goto(`/dashboard/${propertyId}/webhooks`);
    await page.getByRole("button", { name: "Create a webhook" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("URL").fill("https://user:secret@hooks.example.com/");
    // What she may not read herself she may not have sent.
    await dialog.getByText("2 types are not offered").waitFor();
    expect(await dialog.getByLabel(/^Everything/).count()).toBe(0);
    await dialog.getByLabel("A profile is redacted").check();
    await dialog.getByText("Only some events").click();
    await dialog.getByLabel("Types of events").fill("order.*\n\ncart.started");
    await dialog.getByRole("button", { name: "Add a header" }).click();
    await dialog.getByLabel("Name").fill("x-shop");
    await dialog.getByLabel("Value").fill("a value to hide");
    await dialog.getByRole("button", { name: "Create the webhook" }).click();
    await dialog.locator("[aria-invalid]").waitFor();
    expect(await findBarriers(window)).toEqual([]);
    await dialog.getByLabel("URL").fill("https://hooks.example.com/daybook");
    await dialog.getByRole("button", { name: "Create the webhook" }).click();
    const closeSecret = async (): Promise<void> => {
      const secret = (await page.locator(".secret code").textContent()) ?? "";
      expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
      expect(await findBarriers(window)).toEqual([]);
      await page.getByRole("button", { name: "I have stored it" }).click();
      await page.locator(".secret").waitFor({ state: "detached" });
      expect(await page.content()).not.toContain(secret);
    };
    await closeSecret();
    await page.waitForURL("**endpoint=hook_**");
    const endpointId = new URL(page.url()).searchParams.get("endpoint") ?? "";
    const read = async () => (await webhooks.getEndpoint({ propertyId, endpointId }, testCall)).endpoint;
    expect(await read()).toMatchObject({
      types: ["event.recorded", "profile.redacted"],
      filter: { eventTypes: ["order.*", "cart.started"] },
      headerNames: ["x-shop"],
      createdBy: expect.stringMatching(/^mem_/),
    });
    expect(await page.content()).not.toContain("a value to hide");

    const more = async (name: string): Promise<void> => {
      await page.getByRole("button", { name: "More that can be done" }).click();
      await page.getByRole("menuitem", { name }).click();
    };
    await more("Edit");
    await dialog.getByLabel("Description").fill("Warehouse <b>");
    await dialog.getByLabel("At most so many a second").fill("50");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.locator(".side-panel").getByRole("heading", { name: "Warehouse <b>" }).waitFor();
    expect(await read()).toMatchObject({ rateLimitPerSecond: 50, headerNames: ["x-shop"] });
    await more("Rotate the secret");
    await dialog.getByLabel("Both are good for").selectOption("3600");
    await dialog.getByRole("button", { name: "Make the new secret" }).click();
    await closeSecret();
    expect((await read())?.previousSecretUntil).toBeDefined();
    await more("Disable");
    await page.getByRole("alertdialog").getByRole("button", { name: "Disable the webhook" }).click();
    await page.locator(".side-panel").getByText("Nothing is sent.").waitFor();
    expect(await read()).toMatchObject({ status: EndpointStatus.DISABLED });
    await more("Delete");
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete the webhook" }).click();
    await page.locator(".side-panel").waitFor({ state: "detached" });
    await expect(read()).rejects.toMatchObject({ code: "resource_not_found" });
    expect(window.takeFaults().filter((fault) => !fault.includes("status of 4"))).toEqual([]);
  });

  test("a delivery shows each attempt and its answer as text, and is sent again", async () => {
    const { propertyId } = property;
    const endpointId = await newEndpoint(daybook(), propertyId);
    const failed = await keepDelivery(daybook(), propertyId, endpointId, "failed");
    await keepDelivery(daybook(), propertyId, endpointId, "delivered");
    const window = await openAs(Role.DEVELOPER);
    const { page } = window;
    await page.goto(`/dashboard/${propertyId}/webhooks?show=deliveries`);
    await page.getByLabel("State").selectOption("failed");
    await page.getByRole("button", { name: "event.recorded" }).click();
    await page.waitForURL(`**delivery=${failed}`);
    const panel = page.locator(".side-panel");
    await panel.getByText("The database is away. <b>Try later</b>").waitFor();
    expect(await panel.locator(".attempts > li").count()).toBe(2);
    await panel.getByText('"webhook_message"').waitFor();
    expect(await findBarriers(window)).toEqual([]);
    await panel.getByRole("button", { name: "Send again" }).click();
    await page.getByText("It is sent again.").waitFor();
    const { delivery } = await daybook().clients.webhooks.getDelivery({ propertyId, deliveryId: failed }, testCall);
    expect(delivery?.completedAt).toBeUndefined();

    // The test of an endpoint that cannot be reached says why.
    await page.goto(`/dashboard/${propertyId}/webhooks?endpoint=${endpointId}`);
    await page.getByRole("button", { name: "Send a test" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("It did not get through.").waitFor();
    await dialog.getByText("Attempt 1").waitFor();
    expect(await findBarriers(window)).toEqual([]);
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Replay …" }).click();
    await dialog.getByLabel("Everything").check();
    await dialog.getByRole("button", { name: "Begin the replay" }).click();
    await page.getByText("The replay has begun.").waitFor();
    window.expectNoFaults();
  });

  test("refused writes are counted by fault, and show what was sent only to who may see identifiers", async () => {
    const { propertyId } = property;
    const keyId = property.keyId;
    const ids = [];
    for (let made = 0; made < 3; made++) ids.push(await keepRejectedWrite(daybook(), propertyId, { keyId }));
    await keepRejectedWrite(daybook(), propertyId, { keyId, operation: "events.batch" });
    const developer = await openAs(Role.DEVELOPER);
    await developer.page.goto(`/dashboard/${propertyId}/rejected`);
    await developer.page.getByText("4 writes were refused.").waitFor();
    await developer.page.getByRole("button", { name: "parameter_invalid at value" }).first().click();
    const group = developer.page.locator(".side-panel");
    await group.getByText("must be a decimal string").first().waitFor();
    expect(await findBarriers(developer)).toEqual([]);
    await group.getByRole("link", { name: "Show the writes" }).click();
    await developer.page.waitForURL("**code=parameter_invalid**");
    const rows = developer.page.locator(".row-open");
    await expect.poll(() => rows.count()).toBe(3);
    await rows.first().click();
    await group.getByText("only who may reveal identifiers sees it").waitFor();
    expect(await group.getByRole("button", { name: "Reveal what was sent" }).count()).toBe(0);
    expect(await developer.page.getByRole("button", { name: "Keep no bodies" }).count()).toBe(0);
    developer.expectNoFaults();

    const admin = await openAs(Role.ADMIN);
    const { page } = admin;
    await page.goto(`/dashboard/${propertyId}/rejected?show=writes&write=${ids[0]}`);
    await page.getByRole("button", { name: "Reveal what was sent" }).click();
    await page.locator("[data-marked]").getByText("49.9").waitFor();
    expect(await page.locator("[data-marked]").textContent()).toContain("at fault");
    expect(await findBarriers(admin)).toEqual([]);
    await page.goto(`/dashboard/${propertyId}/audit`);
    await page.getByText("Revealed what a refused write had sent").first().waitFor();
    await page.goto(`/dashboard/${propertyId}/rejected?show=writes&write=${ids[0]}`);
    await page.getByRole("button", { name: "Keep no bodies" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete them, and keep none" }).click();
    await page.locator(".side-panel").getByText("It is not kept").waitFor();
    admin.expectNoFaults();
  });

  test("a person is erased by her profile with its id typed, an overdue request is marked and cancelled", async () => {
    const { propertyId } = property;
    const { privacy } = daybook().clients;
    const identifiers = [{ type: "email", value: "ada@example.com" }];
    const made = await property.post("/v1/profiles", { identifiers });
    const profileId = made.body.data.id as string;
    const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
    const { request: late } = await privacy.createPrivacyRequest(
      {
        propertyId,
        type: PrivacyRequestType.ERASURE,
        identifiers: [{ type: "email", value: "late@example.com" }],
        submittedAt: inDays(-31),
        notBefore: inDays(1),
        createdBy: "operator",
      },
      testCall,
    );
    const window = await openAs(Role.SUPPORT);
    const { page } = window;
    await page.goto(`/dashboard/${propertyId}/profiles/${profileId}`);
    await page.getByRole("button", { name: "Privacy requests of this person" }).click();
    await page.getByRole("menuitem", { name: "Erase the person" }).click();
    const dialog = page.getByRole("dialog");
    const erase = dialog.getByRole("button", { name: "Erase for good" });
    expect(await erase.isDisabled()).toBe(true);
    await dialog.getByLabel("Keep the identifiers out").check();
    await dialog.getByLabel(`Type ${profileId}`).fill(profileId);
    expect(await findBarriers(window)).toEqual([]);
    await erase.click();
    await page.waitForURL("**request=priv_**");
    const { requests } = await privacy.listPrivacyRequests({ propertyId, profileId, limit: 1 }, testCall);
    expect(requests).toMatchObject([
      { subjectProfileId: profileId, suppress: true, createdBy: expect.stringMatching(/^mem_/) },
    ]);
    // The identifiers are kept out as soon as it is carried out.
    await page.goto(`/dashboard/${propertyId}/privacy?show=suppressions`);
    const letIn = page.getByRole("button", { name: "Let in again" });
    await eventually(async () => {
      await page.reload();
      await page.locator("table,.empty-state").first().waitFor();
      return (await letIn.count()) > 0 || undefined;
    });
    expect(await findBarriers(window)).toEqual([]);
    await letIn.click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Let it in again" }).click();
    await page.getByText("Nobody is kept out").waitFor();

    await page.goto(`/dashboard/${propertyId}/privacy?due=overdue`);
    await page.getByRole("button", { name: "Erasure" }).click();
    await page.locator(".side-panel").getByText("Overdue").waitFor();
    expect(await page.content()).not.toContain("late@example.com");
    await page.getByRole("button", { name: "Cancel …" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel the request" }).click();
    await page.locator(".side-panel").getByText("Cancelled").waitFor();
    const privacyRequestId = late?.id ?? "";
    const { request } = await privacy.getPrivacyRequest({ propertyId, privacyRequestId }, testCall);
    expect(request?.status).toBe(PrivacyRequestStatus.CANCELLED);
    window.expectNoFaults();
  });

  test("what is kept of a person is downloaded by the browser, and the audit says so", async () => {
    const { propertyId } = property;
    const { privacy } = daybook().clients;
    const identifiers = [{ type: "email", value: "grace@example.com" }];
    await property.post("/v1/profiles", { identifiers });
    const asked = { propertyId, type: PrivacyRequestType.ACCESS, identifiers, createdBy: "operator" };
    const { request } = await privacy.createPrivacyRequest(asked, testCall);
    const window = await openAs(Role.SUPPORT);
    const { page } = window;
    await page.goto(`/dashboard/${propertyId}/privacy?request=${request?.id}`);
    await page.getByRole("button", { name: "Download …" }).click();
    expect(await findBarriers(window)).toEqual([]);
    const download = page.waitForEvent("download");
    await page.getByRole("dialog").or(page.getByRole("alertdialog")).getByRole("button", { name: "Download" }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe(`${request?.id}.ndjson`);
    let text = "";
    for await (const piece of await file.createReadStream()) text += String(piece);
    const lines = text.trimEnd().split("\n");
    expect(text).toContain("grace@example.com");
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ kind: "end" });
    window.expectNoFaults();

    const path = `/dashboard/${propertyId}/privacy-requests/${request?.id}/download`;
    const cookie = (await window.context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
    const statusOf = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(daybook().baseUrl + path, { headers, redirect: "manual" })).status;
    // Of another site, typed by a user, without a session, and of a member without the right.
    expect(await statusOf({ cookie, "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await statusOf({ cookie, "sec-fetch-site": "none" })).toBe(403);
    expect(await statusOf({ "sec-fetch-site": "same-origin" })).toBe(401);
    const developer = await openAs(Role.DEVELOPER);
    const other = (await developer.context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
    expect(await statusOf({ cookie: other, "sec-fetch-site": "same-origin" })).toBe(403);
    const { entries } = await daybook().clients.members.listAudit({ propertyId, limit: 1 }, testCall);
    expect(entries).toMatchObject([
      {
        action: "privacy_export_downloaded",
        targetIds: [request?.id],
        succeeded: true,
        memberId: expect.stringMatching(/^mem_/),
      },
    ]);
  });

  test("who lacks the right sees nothing of it", async () => {
    const { propertyId } = property;
    const { page } = await openAs(Role.VIEWER);
    await page.goto(`/dashboard/${propertyId}/overview`);
    await page.locator("#navigation").getByText("Overview").waitFor();
    for (const title of ["Webhooks", "Rejected writes", "Privacy"]) {
      expect([title, await page.locator("#navigation").getByText(title, { exact: true }).count()]).toEqual([title, 0]);
    }
    for (const path of ["webhooks", "rejected", "privacy"]) {
      await page.goto(`/dashboard/${propertyId}/${path}`);
      await page.getByRole("heading", { name: "Your role does not allow this" }).first().waitFor();
      expect(await page.locator("tbody tr").count()).toBe(0);
    }
  });
});

test("the types of messages have words, and the right that each needs", () => {
  const known = [...messageTypes, ...otherTypes].map(({ type, right = null }): [string, unknown] => [type, right]);
  const wanted = webhookTypes.map(({ name, scope }): [string, unknown] => [name, scope]);
  expect(Object.fromEntries(known)).toEqual(Object.fromEntries(wanted));
});
