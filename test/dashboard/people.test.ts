/** Settings, Members, Audit and Operate in a real browser, against a real Daybook. */
import { create, toBinary } from "@bufbuild/protobuf";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { AnonymousEventsRecordedSchema } from "#proto/daybook/event/v1/event_pb.ts";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MemberService, Role } from "#proto/daybook/identity/v1/members_pb.ts";
import { createSigner } from "#shared/bus/nats/signature.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { newUuid } from "#shared/values/ids.ts";
import type { DashboardContext } from "../../gateway/dashboard/context.ts";
import { serviceMethods } from "../../gateway/dashboard/methods.ts";
import { ownMethods } from "../../gateway/dashboard/own-methods.ts";
import { actionInWords, knownActions } from "../../gateway/dashboard/ui/screens/audit/actions.ts";
import { rights, type RoleName } from "../../gateway/dashboard/ui/screens/members/rights.ts";
import { advice, figures } from "../../gateway/dashboard/ui/screens/operate/figures.ts";
import { dashboardRights, installationRights, rightsOfRole, roleNames } from "../../services/identity/domain/roles.ts";
import { findBarriers, startBrowser, type TestBrowser, type Window } from "../support/browser.ts";
import {
  connectToMesh,
  startSingleProcess,
  testCall,
  type TestDaybook,
  type TestProperty,
} from "../support/daybook.ts";
import { newMember, password, type TestMember } from "../support/members.ts";
import { countKept, publishDeadLetter } from "../support/nats.ts";
import { eventually } from "../support/processes.ts";

const owner = new Owner();
let browser: TestBrowser;
beforeAll(async () => {
  browser = owner.own(await startBrowser());
});
afterAll(() => owner.close());

/** A window of a member. */
async function openAs(daybook: TestDaybook, member?: TestMember): Promise<Window> {
  const window = owner.own(await browser.open(daybook.baseUrl));
  if (member) await window.context.addCookies([member.cookie]);
  return window;
}

describe("people", () => {
  // Its own, so that the only admin is known.
  let daybook: TestDaybook;
  let admin: TestMember;
  let property: TestProperty;

  beforeAll(async () => {
    daybook = await startSingleProcess(owner);
    admin = await newMember(daybook);
    property = await daybook.newProperty({ mode: Mode.LIVE });
  });

  test("the link of an invitation is shown once, gone however it is closed, and opens an account with exactly its role", async () => {
    const window = await openAs(daybook, admin);
    const { page } = window;
    const closings = [
      () => page.getByRole("button", { name: "I have stored it" }).click(),
      () => page.keyboard.press("Escape"),
      () => page.getByRole("button", { name: "Close" }).click(),
      () => page.goBack(),
    ];
    const links: string[] = [];
    await page.goto(`/dashboard/${property.propertyId}/members`);
    for (const [index, close] of closings.entries()) {
      await page.getByRole("button", { name: "Invite a person" }).click();
      await page.getByLabel("Email").fill(`guest-${index}@example.com`);
      await page.getByLabel("Role", { exact: true }).selectOption("support");
      await page.getByRole("button", { name: "Make the link" }).click();
      const link = (await page.locator(".secret code").textContent()) ?? "";
      const [address, token = ""] = link.split("#");
      expect(address).toBe(`${daybook.baseUrl}/dashboard/invitation`);
      expect(token).toMatch(/^[\w-]{43}$/);
      links.push(link);
      await close();
      await page.locator(".secret").waitFor({ state: "detached" });
      expect(await page.content()).not.toContain(token);
      await page.getByRole("button", { name: `Revoke the invitation of guest-${index}@` }).waitFor();
    }
    // One is taken back, and one is accepted.
    await page.getByRole("button", { name: "Revoke the invitation of guest-1@" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Revoke the invitation" }).click();
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
    window.expectNoFaults();

    const guest = await openAs(daybook);
    await guest.page.goto(links[0] ?? "");
    await guest.page.getByLabel("Name").fill("<b>Grace</b> Hopper");
    await guest.page.getByLabel("Password").fill(password);
    await guest.page.locator("form button[type=submit]").click();
    await guest.page.waitForURL(`**/dashboard/${property.propertyId}/**`);
    const { members } = await daybook.clients.members.listMembers({ limit: 500 }, testCall);
    const made = members.find(({ email }) => email === "guest-0@example.com");
    expect(made?.grants).toMatchObject([{ propertyId: property.propertyId, role: Role.SUPPORT }]);
    // She has neither the screens nor the methods of admins.
    expect(await guest.page.getByRole("navigation").textContent()).not.toMatch(/Members|Audit|Operate|Keys/);
    await guest.page.goto(`/dashboard/${property.propertyId}/members`);
    await guest.page.getByText("Only admins of all properties manage members").waitFor();
    for (const spent of links.slice(0, 2)) {
      await guest.page.goto("about:blank");
      await guest.page.goto(spent);
      await guest.page.getByText("This link is not good any more").waitFor();
      expect(await guest.page.getByLabel("Password").count()).toBe(0);
    }
  });

  test("the last admin is neither removed nor made less, and says why", async () => {
    const window = await openAs(daybook, admin);
    const { page } = window;
    await page.goto(`/dashboard/${property.propertyId}/members`);
    await page.getByRole("button", { name: "Ada Lovelace" }).click();
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await page.getByLabel("Role", { exact: true }).selectOption("viewer");
    expect(await page.locator(".changes li").allTextContents()).toEqual(["All properties: admin → viewer"]);
    expect(await findBarriers(window)).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Change", exact: true }).click();
    const refusal = page.getByText("No admin of all properties would be left.");
    await refusal.waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    const remove = page.getByRole("button", { name: "Remove the member" });
    expect(await remove.isDisabled()).toBe(true);
    await page.getByRole("alertdialog").getByRole("textbox").fill(admin.email);
    await remove.click();
    await refusal.waitFor();
    await page.keyboard.press("Escape");
    await page.reload();
    await page.getByRole("table", { name: "Members" }).getByRole("cell", { name: admin.email }).waitFor();
    // What is refused is an answer of 422, which the console tells.
    expect(window.takeFaults().filter((fault) => !fault.includes("status of 422"))).toEqual([]);
  });

  test("settings are changed, and the audit says so without the value", async () => {
    const window = await openAs(daybook, admin);
    const { page } = window;
    await page.goto(`/dashboard/${property.propertyId}/settings`);
    await page.getByLabel("Name").fill("A name that is a value");
    const zone = page.getByRole("combobox", { name: "Time zone" });
    await zone.fill("Kathmandu");
    await zone.fill("Lisbon");
    await page.getByRole("option", { name: /Lisbon/ }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The settings are saved.").waitFor();
    const { properties } = await daybook.clients.identity.listProperties({ limit: 500 }, testCall);
    expect(properties.find(({ id }) => id === property.propertyId)).toMatchObject({
      name: "A name that is a value",
      timezone: "Europe/Lisbon",
      defaultCurrency: "USD",
    });
    await page.goto(`/dashboard/${property.propertyId}/audit`);
    const action = page.getByText("Changed a property's settings");
    await action.waitFor();
    expect(await action.getAttribute("title")).toBe("daybook.identity.v1.IdentityService/UpdateProperty");
    const invited = `${MemberService.typeName}/${MemberService.method.inviteMember.name}`;
    await page.goto(`/dashboard/${property.propertyId}/audit?in=all&action=${encodeURIComponent(invited)}`);
    await page.getByRole("cell", { name: "Invited a person" }).first().waitFor();
    await page.getByRole("button", { name: "Invited a person" }).first().click();
    await page.locator(".side-panel").waitFor();
    expect(await page.locator(".with-panel").textContent()).not.toMatch(/A name that is|Lisbon|guest-\d/);
    window.expectNoFaults();
  });

  test("the audit is read page by page, filtered, and leads to what was done something to", async () => {
    const entry = {
      action: "test_of_pages",
      propertyId: property.propertyId,
      targetIds: [property.keyId],
      succeeded: true,
    };
    const wanted = 130;
    await Promise.all(Array.from({ length: wanted }, () => daybook.clients.members.recordAudit({ entry }, testCall)));
    const window = await openAs(daybook, admin);
    const { page } = window;
    await page.goto(`/dashboard/${property.propertyId}/audit?action=test_of_pages`);
    await page.getByRole("button", { name: "Load more" }).click();
    const rows = page.locator("[data-row]");
    // The button has another name while it loads.
    await rows.nth(wanted - 1).waitFor();
    await page.getByRole("button", { name: "Load more" }).waitFor({ state: "detached" });
    expect(await rows.count()).toBe(wanted);
    await page.getByRole("link", { name: "Key", exact: true }).first().click();
    await page.waitForURL(`**/keys?key=${property.keyId}`);
    await page.locator(".side-panel").waitFor();
    window.expectNoFaults();
  });
});

describe("operation (mesh)", () => {
  test("a dead letter is shown with its reason, and given back to who gave it up", async () => {
    const mesh = connectToMesh();
    const { propertyId } = await mesh.newProperty();
    const id = newUuid();
    await publishDeadLetter(inject("natsUrl"), createSigner(inject("mesh").internalToken), {
      consumer: "event_anonymous",
      id,
      subject: "daybook.event.anonymous",
      payload: toBinary(
        AnonymousEventsRecordedSchema,
        create(AnonymousEventsRecordedSchema, { propertyId, eventIds: [] }),
      ),
    });
    const window = await openAs(mesh, await newMember(mesh));
    const { page } = window;
    await page.goto(`/dashboard/${propertyId}/operate`);
    const row = page.locator("[data-row]", { hasText: id });
    await row.waitFor();
    expect(await row.textContent()).toContain("it was put there by a test");
    expect(await findBarriers(window)).toEqual([]);
    // Every process of the mesh is there.
    const ready = page.getByRole("table", { name: "Processes" }).getByText("Ready", { exact: true });
    expect(await ready.count()).toBe(6);
    await row.getByRole("button").last().click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Give back" }).click();
    await row.waitFor({ state: "detached" });
    await eventually(async () =>
      (await countKept(inject("natsUrl"), "daybook.dead.event_anonymous")) === 0 ? true : undefined,
    );
    window.expectNoFaults();
  });

  test("what Operate calls a figure in Prometheus is there, and so is every page that it sends to", async () => {
    const mesh = connectToMesh();
    const { propertyId } = await mesh.newProperty();
    const window = await openAs(mesh, await newMember(mesh));
    await window.page.goto(`/dashboard/${propertyId}/operate`);
    await window.page.getByRole("table", { name: "Consumers" }).waitFor();
    const shown = await window.page.locator(".prometheus dd code").allTextContents();
    expect(new Set(shown)).toEqual(new Set(Object.values(figures).map(({ name }) => name)));
    const exposed = await Promise.all(
      inject("mesh").internalUrls.map(async (url) => (await fetch(`${url}/metrics`)).text()),
    );
    const names = new Set(exposed.flatMap((text) => [...text.matchAll(/^(\w+)[{ ]/gm)].map(([, name]) => name)));
    expect(shown.filter((name) => !names.has(name))).toEqual([]);
    const monitoring = await readFile("docs/operating/monitoring.md", "utf8");
    for (const name of shown) if (name.startsWith("daybook_")) expect(monitoring).toContain(`\`${name}\``);
    for (const { page, heading } of Object.values(advice)) {
      expect(await readFile(page, "utf8"), page).toContain(`\n## ${heading}\n`);
    }
    window.expectNoFaults();
  });
});

test("roles are explained as the identity service decides, and every audited method has words", () => {
  const explained = (role: RoleName) =>
    rights.flatMap(({ id, roles }) => (role === "admin" || roles.some((each) => each === role) ? [id] : []));
  for (const role of roleNames) {
    const actual = new Set<string>(rightsOfRole[role]);
    // Admins have the scopes of keys too that no screen is about.
    if (role === "admin")
      expect(new Set(explained(role))).toEqual(new Set([...explained(role)].filter((id) => actual.has(id))));
    else expect(new Set(explained(role))).toEqual(actual);
  }
  expect(explained("admin")).toEqual(expect.arrayContaining([...dashboardRights]));
  expect(new Set(rights.filter(({ isEverywhere }) => isEverywhere).map(({ id }) => id))).toEqual(
    new Set<string>(installationRights),
  );
  const audited = [...serviceMethods, ...ownMethods({} as DashboardContext)]
    .filter(({ audit }) => audit)
    .map(({ desc }) => `${desc.parent.typeName}/${desc.name}`);
  expect(audited.filter((action) => !knownActions.includes(action))).toEqual([]);
  expect(actionInWords("daybook.profile.v1.ProfileService/DoWhatIsNew")).toBe("Do What Is New");
});
