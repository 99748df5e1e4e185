/**
 * The address in documents and links: the one that is set, else what clients ask for, and what a trusted proxy says
 * they asked for.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createApi } from "../support/api.ts";
import { startSingleProcess, type SingleProcess } from "../support/daybook.ts";

const owner = new Owner();
let databaseUrl: string;
let first: SingleProcess;
beforeAll(async () => {
  first = await startSingleProcess(owner);
  ({ databaseUrl } = first);
});
afterAll(() => owner.close());

const forwarded = { "x-forwarded-host": "shop.example.com", "x-forwarded-proto": "https" };

/** Every place that tells the address, with the headers that a proxy sets. */
async function origins(
  daybook: SingleProcess,
  headers: Record<string, string>,
): Promise<{ page: string; link: string; vary: string | null }> {
  const docs = await createApi(daybook.baseUrl).get("/docs", { headers });
  const api = await daybook.newProperty();
  const { body } = await api.get("/api/metrics", { headers });
  return {
    page: /The API is at <code>(.*?)<\/code>/s.exec(docs.text)?.[1] ?? "",
    link: new URL(body.links.self).origin,
    vary: docs.headers.get("vary"),
  };
}

describe("what says it", () => {
  test("of strangers is the Host, and not X-Forwarded-*", async () => {
    const origin = first.baseUrl;
    const vary = "Host, X-Forwarded-Host, X-Forwarded-Proto";
    expect(await origins(first, forwarded)).toEqual({ page: origin, link: origin, vary });
  });

  test("of a trusted proxy is X-Forwarded-*, unless that is no host", async () => {
    const daybook = await startSingleProcess(owner, { databaseUrl, edge: { trustedProxies: ["127.0.0.0/8"] } });
    const origin = "https://shop.example.com";
    expect(await origins(daybook, forwarded)).toMatchObject({ page: origin, link: origin });
    const odd = { "x-forwarded-host": "a';reboot;'", "x-forwarded-proto": "javascript" };
    const unknown = "http://daybook.example.com";
    expect(await origins(daybook, odd)).toMatchObject({ page: unknown, link: unknown });
  });

  test("is the address that is set, whatever requests say, and then nothing depends on them", async () => {
    const edge = { publicUrl: "https://set.example.com", trustedProxies: ["127.0.0.1"] };
    const daybook = await startSingleProcess(owner, { databaseUrl, edge });
    const origin = "https://set.example.com";
    expect(await origins(daybook, forwarded)).toEqual({ page: origin, link: origin, vary: null });
    expect(await origins(daybook, {})).toEqual({ page: origin, link: origin, vary: null });
    const { body } = await createApi(daybook.baseUrl).get("/openapi.json");
    expect(body.servers).toEqual([{ url: origin }]);
  });
});
