/** A real Chromium for tests of the dashboard. Whatever a page does that it must not, fails its test. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import type { Closable } from "#shared/process/lifecycle.ts";
import { startChromium } from "./chromium.ts";

export interface TestBrowser extends Closable {
  /** A new window with its own cookies. `origin` is the only one that its pages may speak to. */
  open(origin: string, options?: BrowserContextOptions): Promise<Window>;
}

export interface Window extends Closable {
  page: Page;
  context: BrowserContext;
  /** @throws an assertion error with each fault: console errors, reports of the policy, requests to other origins. */
  expectNoFaults(): void;
  /** Takes faults that a test causes on purpose. */
  takeFaults(): string[];
}

/** One for a file: it takes a second to start. Close it in `afterAll`. */
export async function startBrowser(): Promise<TestBrowser> {
  const browser = await startChromium();
  return { open: (origin, options) => openWindow(browser, origin, options), close: () => browser.close() };
}

async function openWindow(browser: Browser, origin: string, options?: BrowserContextOptions): Promise<Window> {
  const context = await browser.newContext({
    baseURL: origin,
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    reducedMotion: "reduce",
    ...options,
  });
  const page = await context.newPage();
  let faults: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  context.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(origin).origin) faults.push(`request: ${request.url()}`);
  });
  await context.addInitScript(
    `document.addEventListener("securitypolicyviolation", (event) =>
      console.error("policy:", event.violatedDirective, event.blockedURI, event.sample))`,
  );
  const takeFaults = (): string[] => {
    const taken = faults;
    faults = [];
    return taken;
  };
  return {
    page,
    context,
    takeFaults,
    expectNoFaults: () => expect(takeFaults()).toEqual([]),
    close: () => context.close(),
  };
}

let axeSource: string | undefined;

const levels = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/**
 * What axe finds on a page against WCAG 2.2 AA: one line for each rule and element.
 * @param rules only these, such as `color-contrast`.
 */
export async function findBarriers({ page, context }: Window, rules?: readonly string[]): Promise<string[]> {
  axeSource ??= await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  // Through the debugger: the policy of the page stays as it is, and does not apply to it.
  const debug = await context.newCDPSession(page);
  const options = { runOnly: rules ?? levels, resultTypes: ["violations"] };
  await debug.send("Runtime.evaluate", { expression: `globalThis.axe === undefined && (() => { ${axeSource} })()` });
  const { result } = await debug.send("Runtime.evaluate", {
    expression: `axe.run(document, ${JSON.stringify(options)})`,
    awaitPromise: true,
    returnByValue: true,
  });
  await debug.detach();
  const { violations } = result.value as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = "" }) => `${id}: ${html} ${failureSummary.replaceAll("\n", " ")}`),
  );
}
