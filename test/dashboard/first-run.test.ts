/** The first minutes of a newcomer: from the link that `npm start` prints to an event on the screen. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { startBrowser, type TestBrowser, type Window } from "../support/browser.ts";
import { createDatabase } from "../support/database.ts";
import { eventually, freePort, startNode } from "../support/processes.ts";

const clicksMax = 6;
// More than any of the pages has places for the focus.
const tabsMax = 40;

describe("a first run", () => {
  const owner = new Owner();
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = owner.own(await startBrowser());
  });
  afterAll(() => owner.close());

  /** Starts Daybook as `npm start` does. @returns the link that it prints. */
  async function start(): Promise<string> {
    const dataDir = await mkdtemp(join(tmpdir(), "daybook-first-run-"));
    owner.defer(() => rm(dataDir, { recursive: true, force: true }));
    const [port, internalPort] = [await freePort(), await freePort()];
    const daybook = owner.own(
      startNode("deploy/local/main.ts", {
        DATA_DIR: dataDir,
        DATABASE_URL: owner.own(await createDatabase(inject("databaseUrl"))).url,
        PORT: String(port),
        INTERNAL_PORT: String(internalPort),
      }),
    );
    return eventually(() => /http\S+\/dashboard\/setup#\S+/.exec(daybook.output())?.[0], {
      timeoutMs: 60_000,
      explain: () => `npm start is not ready: ${daybook.output()}`,
    });
  }

  /** Opens the link. What is copied can be read. */
  async function follow(link: string): Promise<Window> {
    const permissions = ["clipboard-read", "clipboard-write"];
    const window = owner.own(await browser.open(new URL(link).origin, { permissions }));
    await window.page.goto(link);
    return window;
  }

  /** The name and password of the first member. The first field has the focus. */
  async function fillIn({ page }: Window): Promise<void> {
    const fields = ["ada@example.com", "Ada Lovelace", "a horse, a battery and a staple"];
    // The page of the link first sends its token on, and is another one then.
    await page.locator("input[name=email]:focus").waitFor();
    for (const [index, text] of fields.entries()) {
      if (index > 0) await page.keyboard.press("Tab");
      await page.keyboard.type(text);
    }
  }

  /** Runs what the page copied, in a shell. @returns the id of the event. */
  async function runCopied({ page }: Window): Promise<string> {
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    const { stdout } = await promisify(execFile)("sh", ["-c", command]);
    const { data } = JSON.parse(stdout) as { data: { id: string } };
    return data.id;
  }

  async function expectEvent({ page }: Window, id: string): Promise<void> {
    await page.waitForURL(`**/events?event=${id}`);
    await page.getByRole("complementary").getByText(id).waitFor();
  }

  test(`takes at most ${clicksMax} clicks`, async () => {
    const link = await start();
    const window = await follow(link);
    // The link.
    let clicks = 1;
    const click = async (role: "button" | "link", name: string): Promise<void> => {
      clicks++;
      await window.page.getByRole(role, { name, exact: true }).click();
    };
    await fillIn(window);
    await click("button", "Make the account and sign in");
    await click("button", "Make a key");
    await click("button", "Copy");
    const id = await runCopied(window);
    await click("link", "Open the event");
    await expectEvent(window, id);
    expect(clicks).toBeLessThanOrEqual(clicksMax);
    window.expectNoFaults();
  });

  test("works by keyboard alone", async () => {
    const link = await start();
    const window = await follow(link);
    const { page } = window;
    /** Goes on with Tab to what has a name. */
    const tabTo = async (name: string): Promise<void> => {
      await page.getByText(name, { exact: true }).last().waitFor();
      for (let tabs = 0; tabs < tabsMax; tabs++) {
        await page.keyboard.press("Tab");
        if ((await page.evaluate("document.activeElement.textContent.trim()")) === name) return;
      }
      throw new Error(`Tab does not lead to ${name}`);
    };
    await fillIn(window);
    await page.keyboard.press("Enter");
    await tabTo("Make a key");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await tabTo("Copy");
    await page.keyboard.press("Enter");
    await page.getByText("Copied", { exact: true }).waitFor();
    const id = await runCopied(window);
    await tabTo("Open the event");
    await page.keyboard.press("Enter");
    await expectEvent(window, id);
    window.expectNoFaults();
  });
});
