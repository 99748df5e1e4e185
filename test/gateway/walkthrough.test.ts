/**
 * The page of the API as a reader follows it: every line of curl, from top to bottom, with ids of the answers before in
 * the place of the examples'.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { exampleIds } from "../../gateway/docs/example-ids.ts";
import { createApi } from "../support/api.ts";
import { installApp } from "../support/apps.ts";
import { describeOnce } from "../support/daybook.ts";
import { makePrivacyRequests } from "../support/privacy.ts";
import { newRejectedWrite } from "../support/rejected-writes.ts";
import { newWebhookIds } from "../support/webhooks.ts";

const run = promisify(execFile);

/** A text as it stands in HTML, read back. */
const decode = (text: string): string =>
  text.replaceAll(/<[^>]*>/g, "").replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)));

/** The words of each line, as a shell reads them. */
async function readLines(page: string, secret: string): Promise<string[][]> {
  const lines = [...page.matchAll(/<pre class="curl".*?><code>(.*?)<\/code>/gs)].map(([, line = ""]) => decode(line));
  // In the place of curl: something that tells what it was given.
  const script = `curl() { for word; do printf '%s\\0' "$word"; done; printf '\\0'; }\n${lines.join("\n")}`;
  const env = { ...process.env, DAYBOOK_KEY: secret };
  const { stdout } = await run("sh", ["-euc", script], { maxBuffer: 4_000_000, env });
  return stdout
    .split("\0\0")
    .slice(0, -1)
    .map((words) => words.split("\0"));
}

/** What curl would send. */
function toRequest([, ...words]: readonly string[], baseUrl: string) {
  const valuesOf = (flag: string): string[] => words.flatMap((word, at) => (words[at - 1] === flag ? [word] : []));
  const query = valuesOf("--data-urlencode").map((pair) => {
    const at = pair.indexOf("=");
    return `${pair.slice(0, at)}=${encodeURIComponent(pair.slice(at + 1))}`;
  });
  const [body] = valuesOf("-d");
  const [method = body === undefined ? "GET" : "POST"] = valuesOf("-X");
  const url = words.find((word) => word.startsWith(baseUrl)) ?? "";
  const path = url.slice(baseUrl.length) + (query.length > 0 ? `?${query.join("&")}` : "");
  return { method, path, body, headers: valuesOf("-H").map((header) => header.split(/: /, 2) as [string, string]) };
}

const examples: ReadonlySet<string> = new Set(Object.values(exampleIds));

/** Ids by their prefix, in the order in which answers told of them. */
class Learned {
  readonly #prepared: Partial<Record<keyof typeof exampleIds, string>>;
  readonly #byPrefix = new Map<string, Set<string>>();

  /** @param prepared ids of what was made before. */
  constructor(prepared: Partial<Record<keyof typeof exampleIds, string>>) {
    this.#prepared = prepared;
  }

  learn(text: string): void {
    for (const [id, prefix = ""] of text.matchAll(/\b([a-z]{2,5})_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g)) {
      // The examples that answers show are nobody's.
      if (examples.has(id)) continue;
      this.#byPrefix.set(prefix, (this.#byPrefix.get(prefix) ?? new Set()).add(id));
    }
  }

  /** The ids of examples as a reader replaces them: by one of the kind, and by another profile where two are named. */
  fill(text: string, isDeleted = false): string {
    const of = (prefix: string): string[] => [...(this.#byPrefix.get(prefix) ?? [])];
    const own: Partial<Record<keyof typeof exampleIds, string>> = {
      profile: of("prof")[0],
      otherProfile: of("prof").at(-1),
      identifier: of("idnt").at(-1),
      event: of("evt")[0],
      metric: of("mtr").at(-1),
      property: of("prop")[0],
      key: of("key")[0],
      job: of("job").at(-1),
      app: of("app")[0],
      installation: of("inst")[0],
      member: of("mem")[0],
      ...this.#prepared,
      // The one that was prepared is needed later on.
      ...(isDeleted ? { webhookEndpoint: of("hook").at(-1) } : {}),
      rejectedWrite: of("rej")[0],
    };
    return Object.entries(exampleIds).reduce(
      (filled, [name, id]) => filled.replaceAll(id, own[name as keyof typeof exampleIds] ?? id),
      text,
    );
  }
}

describeOnce("the lines of curl of the page", (daybook) => {
  test("run from top to bottom, with the ids of answers before", async () => {
    const api = await daybook().newProperty();
    await installApp(daybook(), api.propertyId);
    await newRejectedWrite(api);
    const shell = createApi(daybook().baseUrl);
    const page = (await api.get("/docs")).text;
    const learned = new Learned({
      ...(await makePrivacyRequests(daybook(), api)),
      ...(await newWebhookIds(api)),
    });
    learned.learn(api.propertyId);
    const calls = await readLines(page, api.secret);
    expect(calls.length).toBeGreaterThan(40);
    const refused: string[] = [];
    for (const words of calls) {
      const { method, path, body, headers } = toRequest(["curl", ...words], daybook().baseUrl);
      expect(Object.fromEntries(headers).Authorization).toBe(`Bearer ${api.secret}`);
      const answer = await shell.request(method, learned.fill(path, method === "DELETE"), {
        headers: Object.fromEntries(headers),
        ...(body === undefined ? {} : { body: learned.fill(body) }),
      });
      if (answer.status >= 300) refused.push(`${method} ${path} ${answer.status} ${answer.text}`);
      learned.learn(answer.text);
    }
    expect(refused).toEqual([]);
  });
});
