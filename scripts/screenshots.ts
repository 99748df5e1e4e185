/**
 * `npm run screenshots`: takes the pictures of docs/dashboard. It starts a Daybook of its own, fills it with the demo,
 * people and keys, looks at the main screens in a real Chromium, and ends everything that it started. With a folder as
 * its argument it puts every screen there, wide and narrow.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { AppType, RevokedReason } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { connect } from "../gateway/cli/connection.ts";
import { createClients, type Clients } from "../gateway/clients.ts";
import { allScreens } from "../gateway/dashboard/ui/screens.ts";
import { startChromium } from "../test/support/chromium.ts";
import { eventually, freePort, startNode } from "../test/support/processes.ts";
import { makeOutward, type Outward } from "./screenshot-outward.ts";
import { encodeSmallPng } from "./small-png.ts";

const documents = "docs/dashboard";
const demo = ["--people", "1500", "--days", "365", "--seed", "1"];
const password = "a horse, a battery and a staple";
const startTimeoutMs = 120_000;
const pageTimeoutMs = 60_000;
const schemes = ["light", "dark"] as const;
const height = 800;
const wide = 1280;
const narrow = 320;

/** A Daybook with its data. */
interface Store {
  address: string;
  property: string;
  get: (path: string) => Promise<Record<string, unknown>[]>;
  /** Of the services. */
  clients: Clients;
  /** Runs an operator's command. @returns its answer. */
  command: (...words: string[]) => Promise<Record<string, unknown>>;
}

interface Shot {
  name: string;
  /** Below the property. */
  path: string;
  /** What must be on the screen. */
  shows?: string;
}

const owner = new Owner();
let isStopped = false;
// On Ctrl+C both the terminal and npm send a signal. Unhandled, the second would end this process before its children.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (isStopped) return;
    isStopped = true;
    process.exitCode = 130;
    void owner.close();
  });
}

/** Runs a program of this project to its end. @throws with its output if it fails */
async function run(file: string, env: Record<string, string>, words: readonly string[]): Promise<string> {
  const program = owner.own(startNode(file, env, words));
  const { code } = await program.ended;
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${program.output()}`);
  return program.output();
}

/** Starts Daybook as `npm start` does. @returns it, and the link to its first account. */
async function start(): Promise<{ link: string; dataDir: string }> {
  const dataDir = await mkdtemp(join(tmpdir(), "daybook-screenshots-"));
  owner.defer(() => rm(dataDir, { recursive: true, force: true }));
  const [port, internalPort] = [String(await freePort()), String(await freePort())];
  const env = {
    DATA_DIR: dataDir,
    PORT: port,
    INTERNAL_PORT: internalPort,
    WEBHOOK_ALLOWED_NETWORKS: "127.0.0.0/8",
  };
  const daybook = owner.own(startNode("deploy/local/main.ts", env));
  const link = await eventually(
    () => {
      if (daybook.child.exitCode !== null) throw new Error(daybook.output());
      return /http\S+\/dashboard\/setup#\S+/.exec(daybook.output())?.[0];
    },
    { timeoutMs: startTimeoutMs, explain: () => `Daybook is not ready: ${daybook.output()}` },
  );
  return { link, dataDir };
}

/** Fills the test property with the demo. */
async function fill(dataDir: string, address: string): Promise<Store> {
  await run("deploy/demo/main.ts", { DATA_DIR: dataDir }, demo);
  const { testKey } = JSON.parse(await readFile(join(dataDir, "secrets.json"), "utf8")) as { testKey: string };
  const read = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${address}/v1${path}`, { headers: { authorization: `Bearer ${testKey}` } });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as { data: unknown }).data;
  };
  const { property } = (await read("/account")) as { property: { id: string } };
  return {
    address,
    property: property.id,
    clients: createClients((await connect({ DATA_DIR: dataDir })).transports),
    get: async (path) => (await read(path)) as Record<string, unknown>[],
    command: async (...words) => {
      const answer = await run("gateway/cli/main.ts", { DATA_DIR: dataDir }, [...words, "--json"]);
      return JSON.parse(answer) as Record<string, unknown>;
    },
  };
}

/** Opens the link to an account, and makes the account. @returns the page of the new member. */
async function makeAccount(browser: Browser, link: string, name: string, email?: string): Promise<Page> {
  const page = await openPage(browser, {});
  await page.goto(link);
  if (email !== undefined) await page.getByLabel("Email").fill(email);
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Make the account and sign in" }).click();
  await page.locator("h1").waitFor();
  return page;
}

async function openPage(browser: Browser, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    reducedMotion: "reduce",
    ...options,
  });
  context.setDefaultTimeout(pageTimeoutMs);
  return context.newPage();
}

/** More people, and keys that were used or not. */
async function populate(browser: Browser, { command, property, address }: Store): Promise<void> {
  const { url } = await command("members", "invite", "grace@example.com", "--role", "support", "--property", property);
  const guest = await makeAccount(browser, String(url), "Grace Hopper");
  await guest.context().close();
  await command("members", "invite", "alan@example.com", "--role", "viewer");
  const create = (name: string, ...words: string[]): Promise<Record<string, unknown>> =>
    command("keys", "create", name, "--property", property, ...words);
  const { secret } = await create("Web shop", "--scopes", "events:write,profiles:write", "--rate-limit", "3000");
  await create("Warehouse", "--scopes", "events:write");
  await create("Report of the month", "--scopes", "metrics:read", "--expires", inDays(20));
  const identifier = { type: "email", value: "ada@example.com" };
  const event = { type: "order.shipped", identifier, properties: { order_id: "1001" } };
  const headers = { authorization: `Bearer ${String(secret)}`, "content-type": "application/json" };
  const answer = await fetch(`${address}/v1/events`, { method: "POST", headers, body: JSON.stringify(event) });
  if (!answer.ok) throw new Error(`the key of the shop: ${await answer.text()}`);
}

/** Apps of partners, with access and without. @returns an installation with access. */
async function installApps({ clients: { apps, members, oauth }, property: propertyId }: Store): Promise<string> {
  const call = systemCall("screenshots", pageTimeoutMs);
  const { members: all } = await members.listMembers({ limit: 10 }, call);
  const install = async (name: string, description: string, scopes: string[], by: number): Promise<string> => {
    const host = `${name.toLowerCase().replaceAll(" ", "-")}.example.com`;
    const { app } = await apps.createApp(
      {
        name,
        description,
        homepageUrl: `https://${host}/about`,
        redirectUris: [`https://${host}/oauth/callback`],
        scopes,
        type: AppType.CONFIDENTIAL,
      },
      call,
    );
    const memberId = all[by]?.id ?? "";
    const { installation } = await oauth.installApp({ appId: app?.id ?? "", propertyId, scopes, memberId }, call);
    return installation?.id ?? "";
  };
  const parcels = await install(
    "Parcel tracker",
    "Tells customers where their parcel is, and records when it arrives.",
    ["events:read", "events:write", "identifiers:read_value", "accounts:read"],
    0,
  );
  await install("Loyalty club", "Gives points for orders.", ["events:read", "profiles:read", "profiles:write"], 0);
  const old = await install("Old ledger", "Books orders.", ["metrics:read"], 1);
  await apps.endInstallation({ propertyId, installationId: old, reason: RevokedReason.UNINSTALLED }, call);
  return parcels;
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}

/** The main screens, with what is worth a look. */
async function mainShots({ get }: Store, installation: string, outward: Outward): Promise<Shot[]> {
  const [order] = await get("/events?filter[type]=order.completed&page[limit]=1");
  const metrics = await get("/metrics?page[limit]=100");
  const orders = metrics.find(({ name }) => name === "order.completed");
  if (!order || !orders) throw new Error("the demo made no orders");
  const byPayment = "range=90d&interval=week&by=properties.payment_method";
  return [
    { name: "overview", path: "overview", shows: ".sparkline" },
    { name: "events", path: `events?type=order.completed&event=${String(order.id)}`, shows: ".side-panel dd" },
    { name: "profile", path: `profiles/${String(order.profile_id)}`, shows: "tbody tr" },
    { name: "metrics", path: "metrics", shows: ".sparkline" },
    { name: "metric", path: `metrics/${String(orders.id)}?${byPayment}`, shows: ".chart svg" },
    { name: "keys", path: "keys", shows: "tbody tr" },
    { name: "apps", path: `apps?show=all&installation=${installation}`, shows: ".scope-words li" },
    { name: "webhooks", path: `webhooks?endpoint=${outward.endpoint}`, shows: ".side-panel .scope-words li" },
    { name: "rejected", path: "rejected", shows: "tbody tr" },
    { name: "privacy", path: `privacy?request=${outward.request}`, shows: ".side-panel dd" },
    { name: "members", path: "members", shows: "tbody tr" },
    { name: "operate", path: "operate", shows: "tbody tr" },
  ];
}

/** Goes there, and waits until all is on the screen. */
async function show(page: Page, { property, address }: Store, { path, shows }: Shot): Promise<void> {
  await page.goto(`${address}/dashboard/${property}/${path}`);
  await page.locator("h1").waitFor();
  if (shows !== undefined) await page.locator(shows).first().waitFor();
  await page.locator(".skeleton").first().waitFor({ state: "detached" });
  await page.evaluate("document.fonts.ready.then(() => true)");
}

async function takeAll(page: Page, store: Store, shots: readonly Shot[], folder: string): Promise<void> {
  const widths = folder === documents ? [wide] : [wide, narrow];
  await mkdir(folder, { recursive: true });
  for (const shot of shots) {
    for (const width of widths) {
      for (const colorScheme of schemes) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        await show(page, store, shot);
        const suffix = width === wide ? colorScheme : `${colorScheme}-${width}`;
        const path = join(folder, `${shot.name}-${suffix}.png`);
        await writeFile(path, await makeSmall(page, await page.screenshot({ animations: "disabled", caret: "hide" })));
        process.stdout.write(`${path}\n`);
      }
    }
  }
}

/** Chromium reads its own pictures. */
async function makeSmall(page: Page, picture: Buffer): Promise<Buffer> {
  const blank = await page.context().newPage();
  const script = `(async () => {
    const answer = await fetch("data:image/png;base64,${picture.toString("base64")}");
    const bitmap = await createImageBitmap(await answer.blob());
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    canvas.drawImage(bitmap, 0, 0);
    const { width, data } = canvas.getImageData(0, 0, bitmap.width, bitmap.height);
    const reader = new FileReader();
    const isRead = new Promise((resolve) => (reader.onload = resolve));
    reader.readAsDataURL(new Blob([data]));
    await isRead;
    return { width, pixels: reader.result.slice(reader.result.indexOf(",") + 1) };
  })()`;
  const { width, pixels } = await blank.evaluate<{ width: number; pixels: string }>(script);
  await blank.close();
  return encodeSmallPng(Buffer.from(pixels, "base64"), width);
}

async function main([folder = documents]: string[]): Promise<void> {
  const { link, dataDir } = await start();
  const browser = await startChromium();
  owner.defer(() => browser.close());
  const page = await makeAccount(browser, link, "Ada Lovelace", "ada@example.com");
  const store = await fill(dataDir, new URL(link).origin);
  await populate(browser, store);
  const outward = await makeOutward(owner, store);
  const important = await mainShots(store, await installApps(store), outward);
  const others = [
    ...allScreens.map(({ path }) => ({ name: path, path })),
    { name: "all-apps", path: "apps?in=all" },
    ...outward.shots,
  ];
  const extra = folder === documents ? [] : others.filter(({ name }) => important.every((shot) => shot.name !== name));
  await takeAll(page, store, [...important, ...extra], folder);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!isStopped) {
    process.exitCode = 1;
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  }
} finally {
  await owner.close();
}
