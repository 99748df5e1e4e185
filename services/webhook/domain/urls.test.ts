import { expect, test } from "vitest";
import { createNetworks, networkProblem } from "../egress/networks.ts";
import { checkUrl, endpointUrlLengthMax } from "./urls.ts";

const { reachOf } = createNetworks(["10.1.0.0/16", "fd00::/8"]);

test.each([
  ["https://example.com/hooks?a=b", "https://example.com/hooks?a=b"],
  ["HTTPS://Example.COM", "https://example.com/"],
  ["https://example.com:8443/a@b", "https://example.com:8443/a@b"],
  ["https://93.184.216.34/", "https://93.184.216.34/"],
  ["https://[2606:4700::1111]/", "https://[2606:4700::1111]/"],
  ["http://10.1.2.3:8080/", "http://10.1.2.3:8080/"],
  ["https://10.1.2.3/", "https://10.1.2.3/"],
  ["http://[fd00::1]/", "http://[fd00::1]/"],
])("takes %s", (text, url) => {
  expect(checkUrl(text, reachOf)).toBe(url);
});

test.each([
  ["", "must be an address"],
  ["example.com", "must be an address"],
  ["https://", "must be an address"],
  ["https://exa mple.com/", "must be an address"],
  ["https://example.com/\n", "must be an address"],
  ["https://[fe80::1%25eth0]/", "must be an address"],
  ["https://256.0.0.1/", "must be an address"],
  ["ftp://example.com/", "must begin with https://"],
  ["file:///etc/passwd", "must begin with https://"],
  [
    "http://example.com/",
    "must begin with https://; http is only for addresses of the networks in WEBHOOK_ALLOWED_NETWORKS",
  ],
  ["http://93.184.216.34/", "must begin with https://; http is only for"],
  ["http://localhost/", "must begin with https://; http is only for"],
  ["https://user@example.com/", "must have no user and no password"],
  ["https://user:password@example.com/", "must have no user and no password"],
  ["https://@example.com/", "must have no user and no password"],
  ["https:\\\\user@example.com/", "must have no user and no password"],
  ["https://example.com/#", "must have no fragment"],
  ["https://127.1/", "127.0.0.1 is an address of a special network"],
  ["http://10.2.0.1/", "10.2.0.1 is an address of a special network"],
  ["https://[::ffff:10.1.2.3]/", "[::ffff:a01:203] is an address of a special network"],
  [`https://example.com/${"a".repeat(endpointUrlLengthMax)}`, "must have at most 2048 characters; got 2068"],
  [`https://example.com/${"ä".repeat(500)}`, "must have at most 2048 characters once they are encoded; got 3020"],
])("refuses %s", (text, message) => {
  expect(() => checkUrl(text, reachOf)).toThrow(
    expect.objectContaining({ code: "url_not_allowed", param: "url", message: expect.stringContaining(message) }),
  );
});

test("an allowed network of one family says nothing of the other", () => {
  const all = createNetworks(["0.0.0.0/0"]);
  expect(["127.0.0.1", "::1", "::ffff:127.0.0.1", "8.8.8.8"].map((address) => all.reachOf(address))).toEqual([
    "allowed",
    "inside",
    "inside",
    "allowed",
  ]);
});

test.each([
  "",
  "10.0.0.0",
  "10.0.0.0/",
  "10.0.0.0/33",
  "10.0.0/8",
  "::/129",
  "fe80::%1/10",
  "a/8",
  "10.0.0.0/8/8",
  "::/-1",
])("%j is no network", (text) => {
  expect(networkProblem(text)).toMatch(/^must /);
});
