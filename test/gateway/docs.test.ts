/** The page of the API: whole, by itself, safe, and with lines that a shell takes. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { errorCatalogue } from "#shared/values/errors.ts";
import { createApi, type Api } from "../support/api.ts";
import { describeOnce } from "../support/daybook.ts";
import { readOpenApi, type OpenApi } from "../support/openapi.ts";
import { openWire } from "../support/wire.ts";

const run = promisify(execFile);
const style = "/docs/style.css";
const pageScript = "/docs/page.js";
const guides = ["keys", "apps", "errors", "idempotency", "redaction", "rate-limits", "revisions", "compatibility"].map(
  (name) => `/docs/${name}`,
);

/** A text as it stands in HTML, read back. */
const decode = (text: string): string =>
  text.replaceAll(/<[^>]*>/g, "").replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)));
const all = (page: string, pattern: RegExp): string[] => [...page.matchAll(pattern)].map(([, found = ""]) => found);

describeOnce("the page of the API", (daybook) => {
  let api: Api;
  let page: string;
  let openApi: OpenApi;
  beforeAll(async () => {
    api = createApi(daybook().baseUrl);
    page = (await api.get("/docs")).text;
    openApi = await readOpenApi(api);
  });

  test("has every operation, with its path, parameters, answers and codes", () => {
    expect(openApi.operations.length).toBeGreaterThan(20);
    for (const { operationId, method, path, parameters, responses, body } of openApi.operations) {
      const article = new RegExp(`<article id="${operationId}".*?</article>`, "s").exec(page)?.[0] ?? "";
      const text = decode(article);
      const wanted = [
        method,
        path,
        ...parameters.map(({ name }) => name),
        ...Object.entries(responses).flatMap(([status, { description }]) => [
          status,
          ...all(description, /`([a-z_]+)`/g),
        ]),
        ...Object.values(body?.examples ?? {}).map(({ summary }) => summary),
        ...Object.entries(responses).flatMap(([status, { content }]) =>
          // Errors stand at the end of the page, once for all operations.
          Number(status) >= 400
            ? []
            : Object.values(content["application/json"]?.examples ?? {}).map(({ value }) =>
                JSON.stringify(value, null, 2),
              ),
        ),
      ];
      const lacking = wanted.filter((one) => !text.includes(one));
      expect([operationId, lacking]).toEqual([operationId, []]);
    }
  });

  test("shows the fields of every schema that operations take or answer", () => {
    const text = decode(page);
    for (const name of [
      "client_reference",
      "is_primary",
      "attribute_operations",
      "recency",
      "retry_after_ms",
      "rate_limits",
    ]) {
      expect(text).toContain(name);
    }
  });

  test.each(["/docs", ...guides])("%s links only to what is there, and nothing twice has one name", async (path) => {
    const { text } = await api.get(path);
    const ids = all(text, /\sid="([^"]*)"/g);
    expect(new Set(ids).size).toBe(ids.length);
    for (const label of all(text, /aria-labelledby="([^"]*)"/g)) expect(ids).toContain(label);
    const targets = new Set(all(text, /(?:href|src)="([^"]*)"/g));
    expect(targets.size).toBeGreaterThan(10);
    for (const target of targets) {
      const [file = "", anchor] = target.split("#");
      const there = file === "" ? { status: 200, text } : await api.get(file);
      const leads = there.status === 200 && (anchor === undefined || there.text.includes(` id="${anchor}"`));
      expect([target, leads]).toEqual([target, true]);
    }
  });

  test("explains every error code", () => {
    const ids = all(page, /\sid="([^"]*)"/g);
    for (const code of Object.keys(errorCatalogue)) expect(ids).toContain(`error-${code}`);
  });

  test.each(["/docs", ...guides])("%s takes nothing from outside, and runs its own script only", async (path) => {
    const { text } = await api.get(path);
    const markup = text.replace(`<script src="${pageScript}" defer></script>`, "");
    expect(markup.length).toBeLessThan(text.length);
    expect(markup).not.toMatch(
      /<(?:script|iframe|img|object|embed|form|base)\b|<[^>]*\s(?:on\w+|style)=|<style|javascript:/i,
    );
    for (const file of [style, pageScript])
      expect((await api.get(file)).text).not.toMatch(/@import|url\(|https?:|fetch\(/);
  });

  test.each(["/docs", ...guides, style, pageScript, "/openapi.json"])(
    "%s is sent again only when it has changed",
    async (path) => {
      const first = await api.get(path);
      expect([first.status, first.headers.get("cache-control")]).toEqual([200, "no-cache"]);
      const etag = first.headers.get("etag") ?? "";
      expect(etag).toMatch(/^"[\w-]+"$/);
      for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
        const again = await api.get(path, { headers: { "if-none-match": known } });
        expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
      }
      expect((await api.get(path, { headers: { "if-none-match": '"x"' } })).status).toBe(200);
    },
  );

  test.each(["/docs", ...guides])("%s comes with a policy that allows its own style and script only", async (path) => {
    const { headers } = await api.get(path);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
    expect((await api.get(style)).headers.get("content-type")).toBe("text/css; charset=utf-8");
    expect((await api.get(pageScript)).headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  });

  describe("other requests", () => {
    test.each([
      ["HEAD", "/docs", 200],
      ["HEAD", style, 200],
      ["POST", "/docs", 405],
      ["DELETE", style, 405],
      ["GET", "/docs/nothing", 404],
      ["GET", "/docs/", 404],
      ["GET", "/docs/../package.json", 404],
      ["GET", "/docs/..%2fpackage.json", 404],
    ])("%s %s", async (method, path, status) => {
      const answer = await api.request(method, path);
      expect([answer.status, method === "HEAD" ? answer.text : ""]).toEqual([status, ""]);
      if (status === 405) expect(answer.headers.get("allow")).toBe("GET, HEAD");
    });
  });

  test("its lines of curl are words of a shell as they should be", async () => {
    const lines = all(page, /<pre class="curl".*?><code>(.*?)<\/code>/gs).map(decode);
    const every = [...openApi.operations, ...openApi.compat];
    const bodies = every.flatMap(({ body }) => Object.values(body?.examples ?? {}));
    const called = every.filter(({ body }) => !body);
    expect(lines).toHaveLength(bodies.length + called.length);
    // In the place of curl: something that tells what it was given.
    const script = `DAYBOOK_KEY='a key'; curl() { for word; do printf '%s\\0' "$word"; done; printf '\\0'; }\n${lines.join("\n")}`;
    const { stdout } = await run("sh", ["-euc", script], { maxBuffer: 4_000_000 });
    const calls = stdout
      .split("\0\0")
      .slice(0, -1)
      .map((words) => words.split("\0"));
    expect(calls).toHaveLength(lines.length);
    for (const words of calls) {
      expect(words).toContain("Authorization: Bearer a key");
      expect(
        words.filter((word) => /^http:\/\/[^/]+\/(?:v1|api)\//.test(word) && word.startsWith(daybook().baseUrl)),
      ).toHaveLength(1);
    }
    const sent = calls
      .filter((words) => words.includes("-d"))
      .map((words) => JSON.parse(words.at(-1) ?? "") as unknown);
    expect(sent).toEqual(expect.arrayContaining(bodies.map(({ value }) => value)));
  });

  describe("the address in its lines", () => {
    const originOf = async (host: string, more = ""): Promise<string> => {
      const wire = await openWire(daybook().baseUrl);
      wire.write(`GET /docs HTTP/1.1\r\n${host}${more}Connection: close\r\n\r\n`);
      const [answer] = await wire.answers(1);
      wire.end();
      return decode(/The API is at <code>(.*?)<\/code>/s.exec(answer?.body ?? "")?.[1] ?? "");
    };

    test.each([
      ["Host: daybook.example.org\r\n", "", "http://daybook.example.org"],
      ["Host: 127.0.0.1:8080\r\n", "", "http://127.0.0.1:8080"],
      ["Host: [::1]:8080\r\n", "", "http://[::1]:8080"],
      ["Host: daybook.example.org\r\n", "X-Forwarded-Proto: https\r\n", "http://daybook.example.org"],
      ["Host: daybook.example.org\r\n", "X-Forwarded-Host: evil.example.org\r\n", "http://daybook.example.org"],
      ["Host: a';reboot;'\r\n", "", "http://daybook.example.com"],
    ])("%j %j gives %s", async (host, more, origin) => {
      expect(await originOf(host, more)).toBe(origin);
    });
  });
});
