/**
 * Keys and access tokens that are not good: whatever is wrong with them, the answer is the same, and so is the work for
 * all that can be one of them, so that neither tells one from the other.
 */
import { hash, randomBytes } from "node:crypto";
import { request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { AppStatus } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { ArtifactKind } from "#proto/daybook/identity/v1/oauth_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { installApp, newToken, randomToken } from "../support/apps.ts";
import { callsOf } from "../support/counting.ts";
import { describeEverywhere, startSingleProcess, testCall, type TestDaybook } from "../support/daybook.ts";

interface Refusal {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends a request whose Authorization headers are these, each on a line of its own. */
function ask(
  baseUrl: string,
  path: string,
  authorization: readonly string[],
  others: Readonly<Record<string, string>> = {},
): Promise<Refusal> {
  const lines = [["host", new URL(baseUrl).host], ...Object.entries(others)];
  for (const value of authorization) lines.push(["authorization", value]);
  return new Promise((resolve, reject) => {
    request(`${baseUrl}${path}`, { headers: lines.flat() }, (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    })
      .once("error", reject)
      .end();
  });
}

/** What is of one request only, taken out. */
function comparable({ status, headers, body }: Refusal): unknown {
  const {
    "x-request-id": requestId,
    date,
    "ratelimit-remaining": remaining,
    "ratelimit-reset": reset,
    ...rest
  } = headers;
  expect([requestId, date, remaining, reset].map((value) => typeof value)).toEqual(
    Array.from({ length: 4 }, () => "string"),
  );
  const { request_id: told } = JSON.parse(body).error;
  expect(told).toBe(requestId);
  return { status, headers: rest, body: body.replace(String(requestId), "req_") };
}

const unknownKey = (): string => `sk_test_${randomBytes(20).toString("hex")}`;

const impossibleKeys: Readonly<Record<string, string>> = {
  "too short": `sk_test_${"a".repeat(5)}`,
  "too long": `sk_test_${"a".repeat(300)}`,
  "of no mode": `sk_demo_${"a".repeat(40)}`,
  "of no form": "a-key-that-is-none",
  "with another alphabet": `sk_test_${"~".repeat(40)}`,
  "a token that is too short": randomToken().slice(1),
  "a token that is too long": `${randomToken()}A`,
  "a token with padding": `${randomToken()}=`,
  "a token with another alphabet": `${randomToken().slice(1)}+`,
  "a token with a letter that is not of ASCII": `${randomToken().slice(1)}\u00e9`,
  "a token with a prefix": `pk_${randomToken()}`,
};

/** Keys that open nothing, by what is wrong; each is seen for the first time. */
async function badKeys(daybook: TestDaybook): Promise<Record<string, string>> {
  const { identity } = daybook.clients;
  const { propertyId } = await daybook.newProperty();
  const live = await daybook.newProperty({ mode: Mode.LIVE });
  const newKey = (expiresAt?: Timestamp) =>
    identity.createKey({ propertyId, name: "bad", scopes: ["events:read"], ...(expiresAt && { expiresAt }) }, testCall);
  const revoked = await newKey();
  await identity.revokeKey({ propertyId, keyId: revoked.key?.id ?? "" }, testCall);
  const replaced = await newKey();
  await identity.rotateKey({ propertyId, keyId: replaced.key?.id ?? "", overlapSeconds: 0 }, testCall);
  const tokens = await badTokens(daybook, propertyId);
  const expiresAtMs = Date.now() + 2_000;
  const expired = await newKey(toTimestamp(expiresAtMs * 1000));
  const { token: expiredToken } = await (await installApp(daybook, propertyId)).newToken({ expiresAtMs });
  await sleep(expiresAtMs + 50 - Date.now());
  return {
    unknown: unknownKey(),
    revoked: revoked.secret,
    replaced: replaced.secret,
    expired: expired.secret,
    "of the other mode": live.secret.replace("_live_", "_test_"),
    ...tokens,
    "a token that expired": expiredToken,
    ...impossibleKeys,
  };
}

/** Access tokens that open nothing, by what is wrong. */
async function badTokens(daybook: TestDaybook, propertyId: string): Promise<Record<string, string>> {
  const ended = await installApp(daybook, propertyId);
  const tokenOfEnded = await ended.newToken();
  await ended.end();
  const suspended = await installApp(daybook, propertyId);
  const tokenOfSuspended = await suspended.newToken();
  const { apps, oauth } = daybook.clients;
  await apps.updateApp({ appId: suspended.appId, status: AppStatus.SUSPENDED }, testCall);
  const first = await installApp(daybook, propertyId);
  const tokenOfFirst = await first.newToken();
  await installApp(daybook, propertyId, first);
  const second = await installApp(daybook, propertyId);
  const { token: refreshToken } = await second.newToken({ kind: ArtifactKind.REFRESH_TOKEN });
  const { token: code } = await second.newToken({ kind: ArtifactKind.CODE });
  const { token: deleted } = await second.newToken();
  const idHash = hash("sha256", deleted, "buffer");
  await oauth.deleteArtifact({ kind: ArtifactKind.ACCESS_TOKEN, idHash }, testCall);
  return {
    "an unknown token": randomToken(),
    "a token of an installation that ended": tokenOfEnded.token,
    "a token of an app that is suspended": tokenOfSuspended.token,
    "a token of an earlier consent": tokenOfFirst.token,
    "a refresh token": refreshToken,
    "a code": code,
    "a token that was given back": deleted,
  };
}

describeEverywhere("keys and access tokens that are not good", (daybook) => {
  test.each([
    ["/v1/account", undefined],
    ["/v1/events", undefined],
    ["/v1/account", "2026-05-01"],
  ])("get the same bytes, whatever is wrong (%s, Service-Version %s)", async (path, revision) => {
    const { baseUrl } = daybook();
    const good = await daybook().newProperty();
    const { token: goodToken } = await newToken(daybook(), good.propertyId);
    const asked: Record<string, string> = revision === undefined ? {} : { "service-version": revision };
    const bad = Object.values(await badKeys(daybook()));
    const headers: string[][] = [
      ...bad.map((key) => [`Bearer ${key}`]),
      // Again: what is remembered by now.
      ...bad.map((key) => [`Bearer ${key}`]),
      [`Bearer  ${unknownKey()}`],
      [`Bearer ${good.secret} ${good.secret}`],
      [`Bearer ${good.secret.slice(0, -1)}`],
      [`Basic ${good.secret}`],
      [`Basic ${Buffer.from(`${good.secret}:`).toString("base64")}`],
      [good.secret],
      ["Bearer"],
      ["Bearer "],
      [""],
      [],
      [`Bearer ${good.secret}`, `Bearer ${good.secret}`],
      [`Bearer ${good.secret}`, `Bearer ${unknownKey()}`],
      [`Bearer ${goodToken}`, `Bearer ${goodToken}`],
      [`Bearer ${good.secret}`, `Bearer ${goodToken}`],
      [`Bearer ${goodToken} ${goodToken}`],
      [`Bearer ${goodToken.toUpperCase()}`],
      [`Basic ${goodToken}`],
      [`DPoP ${goodToken}`],
      [goodToken],
      [`Bearer ${"x".repeat(10_240)}`],
      [`Bearer ${good.secret}${"x".repeat(10_240)}`],
    ];
    const answers: unknown[] = [];
    for (const authorization of headers) answers.push(comparable(await ask(baseUrl, path, authorization, asked)));
    for (const [at, answer] of answers.entries()) expect([headers[at], answer]).toEqual([headers[at], answers[0]]);
    expect(answers[0]).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } });
    for (const secret of [good.secret, goodToken]) {
      expect((await ask(baseUrl, path, [`Bearer ${secret}`], asked)).status).toBe(200);
    }
  });
});

describe("the work for a key or access token that is not good", () => {
  const owner = new Owner();
  const registry = createRegistry();
  let daybook: TestDaybook;
  beforeAll(async () => {
    // Nothing is forgotten meanwhile, however slow the machine is.
    daybook = await startSingleProcess(owner, { registry, callerAgeMsMax: 60 * 60 * 1000 });
  });
  afterAll(() => owner.close());

  /** Looks for keys so far, by what came of them. */
  const countLooks = async (): Promise<number> =>
    (await callsOf(registry, "AuthenticateKey")) + (await callsOf(registry, "AuthenticateToken"));

  test("is none for what cannot be a key or an access token", async () => {
    const before = await countLooks();
    for (const key of Object.values(impossibleKeys)) {
      expect((await ask(daybook.baseUrl, "/v1/events", [`Bearer ${key}`])).status).toBe(401);
    }
    expect(await countLooks()).toBe(before);
  });

  test("is one look-up for each, as for one that is good, and none for those that were seen a moment ago", async () => {
    const good = await daybook.newProperty();
    const goodToken = await newToken(daybook, good.propertyId);
    const keys = { ...(await badKeys(daybook)), good: good.secret, "a good token": goodToken.token };
    for (const [name, key] of Object.entries(keys)) {
      if (name in impossibleKeys) continue;
      const before = await countLooks();
      const { status } = await ask(daybook.baseUrl, "/v1/events", [`Bearer ${key}`]);
      expect([name, status, (await countLooks()) - before]).toEqual([name, name.includes("good") ? 200 : 401, 1]);
      await ask(daybook.baseUrl, "/v1/events", [`Bearer ${key}`]);
      expect([name, (await countLooks()) - before]).toEqual([name, 1]);
    }
  });

  test("asks only for what its form says: a key that could be a token too is a key", async () => {
    const before = [await callsOf(registry, "AuthenticateKey"), await callsOf(registry, "AuthenticateToken")];
    const key = `sk_test_${"a".repeat(35)}`;
    const token = `sk_test_${"a".repeat(34)}-`;
    for (const secret of [key, token]) await ask(daybook.baseUrl, "/v1/events", [`Bearer ${secret}`]);
    const after = [await callsOf(registry, "AuthenticateKey"), await callsOf(registry, "AuthenticateToken")];
    expect([key.length, token.length, ...after.map((count, index) => count - (before[index] ?? 0))]).toEqual([
      43, 43, 1, 1,
    ]);
  });

  test("is one look-up for a hundred requests at once", async () => {
    const before = await countLooks();
    for (const secret of [unknownKey(), randomToken()]) {
      const asking = Array.from({ length: 100 }, () => ask(daybook.baseUrl, "/v1/events", [`Bearer ${secret}`]));
      expect((await Promise.all(asking)).every(({ status }) => status === 401)).toBe(true);
    }
    expect((await countLooks()) - before).toBe(2);
  });
});
