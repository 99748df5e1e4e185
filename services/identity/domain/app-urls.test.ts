import { expect, test } from "vitest";
import { homepageProblem, redirectProblem } from "./app-urls.ts";

test.each([
  "https://example.com",
  "https://example.com/",
  "https://example.com:8443/a.b/..c/%20?next=../x&y=%2e%2e",
  "https://xn--exmple-cua.com/back",
  "http://127.0.0.1/back",
  "http://localhost:8080/back",
  "http://[::1]:1/back",
])("browsers may be sent back to %s by a public app", (text) => {
  expect(redirectProblem(text, true)).toBeUndefined();
  const isHttps = text.startsWith("https:");
  expect(redirectProblem(text, false) === undefined).toBe(isHttps);
});

test.each([
  "http://example.com/back",
  "http://127.0.0.2/back",
  "http://localhost.example.com/back",
  "http://127.0.0.1@example.com/back",
  "ftp://example.com/back",
  "com.example.app:/back",
  "https:example.com/back",
  "https:/example.com/back",
  "https:///example.com/back",
  "//example.com/back",
  "https://",
  "https://user@example.com/back",
  "https://user:pass@example.com/back",
  "https://@example.com/back",
  "https://example.com/back#",
  "https://example.com/back#part",
  "https://example.com\\@evil.example/back",
  "https://example.com/a\\..\\b",
  "https://example.com/a/../b",
  "https://example.com/a/./b",
  "https://example.com/a/..",
  "https://example.com/a/%2e%2E/b",
  "https://example.com/a/.%2e/b",
  "https://example.com/a%2f..%2fb",
  "https://example.com/a%5C..%5Cb",
  "https://exämple.com/back",
  "https://example.com/bäck",
  "https://example.com/a b",
  "https://example.com/a\tb",
  " https://example.com/back",
  "https://example.com/back\n",
  "HTTPS://example.com/back",
  "https://Example.com/back",
  "https://example.com:443/back",
  "https://example.com:65536/back",
  "https://ex%61mple.com/back",
  "https://0x7f.1/back",
  "http://127.1/back",
  "http://[0:0:0:0:0:0:0:1]/back",
  "https://*.example.com/back",
  "https://example.com?x=1",
])("browsers are never sent back to %s", (text) => {
  for (const mayBeLoopback of [true, false]) expect(redirectProblem(text, mayBeLoopback)).toMatch(/^must /);
});

test.each([
  ["http://example.com/", "must begin with https://"],
  ["http://localhost/", "must begin with https://"],
  ["https://a@example.com/", "must name no user"],
  ["https://Example.com/a", "must be written as https://example.com/a"],
  ["javascript:alert(1)", 'must be an address such as "https://app.example.com/back"'],
  ["", "must have only visible characters of ASCII; encode others with %"],
])("%s is no homepage", (text, problem) => {
  expect(homepageProblem(text)).toBe(problem);
});

test("a homepage may have a fragment", () => {
  expect(homepageProblem("https://example.com/a?b=c#part")).toBeUndefined();
});
