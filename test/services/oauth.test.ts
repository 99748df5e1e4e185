/** Grants, codes and tokens of apps, as identity keeps and uses them, over two replicas. */
import { hash, randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AppStatus, InstallationStatus, RevokedReason } from "#proto/daybook/identity/v1/apps_pb.ts";
import { RateWindow } from "#proto/daybook/identity/v1/identity_pb.ts";
import { ArtifactKind, type StoreArtifactRequestSchema } from "#proto/daybook/identity/v1/oauth_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { newId } from "#shared/values/ids.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import { artifactsPerGrantMax } from "../../services/identity/domain/artifacts.ts";
import { faultsOf, refusalOf, startAppIdentity, type AppIdentity, type TestGrant } from "../support/app-identity.ts";
import type { TestIdentity } from "../support/identity.ts";

const owner = new Owner();
let { at, newApp, install, properties, takeEnded } = {} as AppIdentity;
let { apps, oauth } = {} as TestIdentity;
let client: pg.Client;
let now = Date.UTC(2030, 0, 1) * 1000;

const second = 1_000_000;
const hour = 3_600 * second;
const twenty = Array.from({ length: 20 }, (_, index) => index);
const { CODE, ACCESS_TOKEN, REFRESH_TOKEN, INTERACTION, PUSHED_REQUEST } = ArtifactKind;

beforeAll(async () => {
  const identity = await startAppIdentity(owner, { nowMicros: () => now });
  ({ at, newApp, install, properties, takeEnded } = identity);
  ({ apps, oauth } = at(0));
  client = new pg.Client({ connectionString: identity.url });
  await client.connect();
  owner.defer(() => client.end());
});
afterAll(() => owner.close());
beforeEach(() => {
  now += hour;
  takeEnded();
});

type NewArtifact = MessageInitShape<typeof StoreArtifactRequestSchema>;

const hashOf = (token: string): Uint8Array => hash("sha256", token, "buffer");
const newGrant = async (): Promise<TestGrant & { appId: string }> => {
  const { app } = await newApp({ scopes: ["events:read", "profiles:read"] });
  return { appId: app.id, ...(await install(app.id)) };
};

/** Stores what ends in an hour. @returns its token. */
async function store(kind: ArtifactKind, changes: NewArtifact = {}): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const scopes = kind === ACCESS_TOKEN ? ["events:read"] : [];
  const common = { kind, idHash: hashOf(token), payloadJson: "{}", expiresAt: toTimestamp(now + hour), scopes };
  await oauth.storeArtifact({ ...common, ...changes });
  return token;
}

const consume = async (kind: ArtifactKind, token: string, graceSeconds = 60, index = 0): Promise<boolean> =>
  (await at(index).oauth.consumeArtifact({ kind, idHash: hashOf(token), graceSeconds })).isGood;
const authenticate = (token: string, index = 0) => at(index).oauth.authenticateToken({ tokenHash: hashOf(token) });
const isOpen = async (token: string): Promise<boolean> =>
  (await authenticate(token).catch(() => undefined)) !== undefined;
const find = (kind: ArtifactKind, token: string) => oauth.findArtifact({ kind, idHash: hashOf(token) });
const isKept = async (kind: ArtifactKind, token: string): Promise<boolean> =>
  (await find(kind, token).catch(() => undefined)) !== undefined;
const reasonOf = async ({ propertyId, id }: TestGrant): Promise<RevokedReason> => {
  const { installation } = await apps.getInstallation({ propertyId, installationId: id });
  return installation?.revokedReason ?? RevokedReason.UNSPECIFIED;
};
const countOf = async (text: string, ...values: unknown[]): Promise<number> =>
  (await client.query(`SELECT FROM identity.oauth_artifacts WHERE ${text}`, values)).rows.length;

describe("an access token", () => {
  test("opens the property of its installation, with its scopes, until it expires", async () => {
    const { id, propertyId, grantId, appId } = await newGrant();
    const token = await store(ACCESS_TOKEN, { grantId });
    const startsAt = toTimestamp(now - (now % (60 * second)));
    const wish = { window: RateWindow.ORDINARY, startsAt, wanted: 5, limitDefault: 100 };
    const answer = await oauth.authenticateToken({ tokenHash: hashOf(token), wishes: [wish] });
    expect(answer).toMatchObject({
      installation: { id, appId, propertyId, mode: answer.property?.mode, status: InstallationStatus.ACTIVE },
      scopes: ["events:read"],
      property: { id: propertyId },
      expiresAt: toTimestamp(now + hour),
      now: toTimestamp(now),
      leases: [{ granted: 5, left: 95, limit: 100 }],
    });
    const ask = (wishes: (typeof wish)[]) => oauth.authenticateToken({ tokenHash: hashOf(token), wishes });
    const many = Array.from({ length: 5 }, (_, index) => ({ ...wish, wanted: index }));
    expect(await faultsOf(ask(many))).toEqual({ wishes: "too_many_items" });
    expect(await faultsOf(ask([wish, wish]))).toEqual({ "": "parameter_conflict" });
    expect(await faultsOf(ask([{ ...wish, limitDefault: 0 }]))).toEqual({ limit_default: "parameter_invalid" });
    now += hour - 1;
    expect(await isOpen(token)).toBe(true);
    now += 1;
    expect(await isOpen(token)).toBe(false);
  });

  test("that is not good is refused with the same bytes, whatever the reason", async () => {
    const expired = await store(ACCESS_TOKEN, { grantId: (await newGrant()).grantId, expiresAt: toTimestamp(now + 1) });
    now += 1;
    const [again, over, suspended, good] = [await newGrant(), await newGrant(), await newGrant(), await newGrant()];
    const tokens = await Promise.all([again, over, suspended].map(({ grantId }) => store(ACCESS_TOKEN, { grantId })));
    const [code, refreshToken, request] = [
      await store(CODE, { grantId: good.grantId }),
      await store(REFRESH_TOKEN, { grantId: good.grantId }),
      await store(PUSHED_REQUEST),
    ];
    const deleted = await store(ACCESS_TOKEN, { grantId: good.grantId });
    await install(again.appId);
    await oauth.endGrant({ grantId: over.grantId, reason: RevokedReason.APP });
    await apps.updateApp({ appId: suspended.appId, status: AppStatus.SUSPENDED });
    await oauth.deleteArtifact({ kind: ACCESS_TOKEN, idHash: hashOf(deleted) });
    const refusals = await Promise.all(
      [expired, ...tokens, code, refreshToken, request, deleted, "unknown"]
        .map((token, index) => authenticate(token, index))
        .concat([0, 31, 33].map((length) => oauth.authenticateToken({ tokenHash: new Uint8Array(length) })))
        .map(refusalOf),
    );
    const texts = refusals.map(({ code: name, message, param, errors }) => [name, message, param, errors]);
    expect(new Set(texts.map((text) => JSON.stringify(text)))).toEqual(
      new Set([JSON.stringify(["invalid_api_key", "The API key is missing or not valid.", null, []])]),
    );
  });

  test("has what its installation still has of its scopes", async () => {
    const { grantId } = await newGrant();
    const token = await store(ACCESS_TOKEN, { grantId, scopes: ["profiles:read", "events:read", "events:read"] });
    expect((await authenticate(token)).scopes).toEqual(["events:read"]);
  });
});

describe("a consent", () => {
  test("for an app that is installed keeps the installation, and ends the tokens before it at once", async () => {
    const first = await newGrant();
    const elsewhere = await install(first.appId, properties[1]);
    const token = await store(ACCESS_TOKEN, { grantId: first.grantId });
    const others = [await store(CODE, first), await store(REFRESH_TOKEN, { grantId: first.grantId })];
    const apart = await store(ACCESS_TOKEN, { grantId: elsewhere.grantId });
    expect(await isOpen(token)).toBe(true);
    const before = await apps.getInstallation({ propertyId: first.propertyId, installationId: first.id });
    expect(takeEnded()).toEqual([]);
    now += second;
    const consent = { appId: first.appId, propertyId: first.propertyId, memberId: newId("mem") };
    const { installation, grantId } = await oauth.installApp({
      ...consent,
      scopes: ["profiles:read", "profiles:read"],
    });
    expect(installation).toMatchObject({
      id: first.id,
      scopes: ["profiles:read"],
      installedBy: consent.memberId,
      createdAt: before.installation?.createdAt,
      updatedAt: toTimestamp(now),
    });
    expect(takeEnded()).toEqual([first.id]);
    expect(await isOpen(token)).toBe(false);
    expect([await isKept(CODE, others[0] ?? ""), await isKept(REFRESH_TOKEN, others[1] ?? "")]).toEqual([false, false]);
    expect(await isOpen(apart)).toBe(true);
    expect(await faultsOf(oauth.findGrant({ grantId: first.grantId }))).toEqual({ grant_id: "resource_not_found" });
    expect((await oauth.findGrant({ grantId })).installation).toEqual(installation);
    // The grant before it has no say any more.
    await oauth.endGrant({ grantId: first.grantId, reason: RevokedReason.APP });
    expect(await reasonOf(first)).toBe(RevokedReason.UNSPECIFIED);
  });

  test("that is given twenty times at once makes one installation with one grant", async () => {
    const { app } = await newApp();
    const given = await Promise.all(twenty.map((index) => install(app.id, properties[0], index)));
    expect(new Set(given.map(({ id }) => id)).size).toBe(1);
    const alive = await Promise.all(
      given.map(async ({ grantId }) => (await oauth.findGrant({ grantId }).catch(() => undefined)) !== undefined),
    );
    expect(alive.filter(Boolean)).toHaveLength(1);
    // A token of any other is not even kept.
    await Promise.all(given.map(({ grantId }) => store(ACCESS_TOKEN, { grantId })));
    expect(await countOf("grant_id IN (SELECT grant_id FROM identity.installations WHERE app_id IS NOT NULL)")).toBe(
      await countOf("grant_id IS NOT NULL"),
    );
  });

  test.each<[string, object, Record<string, string>]>([
    ["no scope", { scopes: [] }, { scopes: "parameter_missing" }],
    ["an unknown scope", { scopes: ["x"] }, { "scopes.0": "parameter_invalid" }],
    ["a scope that the app lacks", { scopes: ["events:read", "events:write"] }, { scopes: "missing_scope" }],
    ["no member", { memberId: "" }, { member_id: "invalid_id" }],
    ["no app", { appId: "" }, { app_id: "invalid_id" }],
    ["an unknown app", { appId: newId("app") }, { app_id: "resource_not_found" }],
    ["an unknown property", { propertyId: newId("prop") }, { property_id: "resource_not_found" }],
    ["an id of something else", { propertyId: newId("app") }, { property_id: "invalid_id" }],
  ])("with %s is refused", async (_, bad, faults) => {
    const { app } = await newApp();
    const consent = { appId: app.id, propertyId: properties[0], scopes: ["events:read"], memberId: newId("mem") };
    expect(await faultsOf(oauth.installApp({ ...consent, ...bad }))).toEqual(faults);
    expect((await apps.listInstallations({ appId: app.id, limit: 1 })).installations).toEqual([]);
  });

  test("ends once, with the first reason, and can be given again", async () => {
    const grant = await newGrant();
    const token = await store(ACCESS_TOKEN, { grantId: grant.grantId });
    for (const reason of [RevokedReason.UNSPECIFIED, RevokedReason.OPERATOR, RevokedReason.SUSPENDED]) {
      const ending = oauth.endGrant({ grantId: grant.grantId, reason });
      expect(await faultsOf(ending)).toEqual({ reason: "parameter_invalid" });
    }
    await oauth.endGrant({ grantId: grant.grantId, reason: RevokedReason.APP });
    await oauth.endGrant({ grantId: grant.grantId, reason: RevokedReason.TOKEN_REUSE });
    await oauth.endGrant({ grantId: newId("grnt"), reason: RevokedReason.APP });
    expect(await reasonOf(grant)).toBe(RevokedReason.APP);
    expect(takeEnded()).toEqual([grant.id]);
    expect(await isOpen(token)).toBe(false);
    expect((await install(grant.appId)).id).toBe(grant.id);
    expect(await isOpen(token)).toBe(false);
  });
});

describe("an artifact", () => {
  test.each<[string, NewArtifact, Record<string, string>]>([
    ["no kind", { kind: ArtifactKind.UNSPECIFIED }, { kind: "parameter_invalid" }],
    ["another kind", { kind: 9 as ArtifactKind }, { kind: "parameter_invalid" }],
    ["no hash", { idHash: new Uint8Array() }, { id_hash: "parameter_invalid" }],
    ["a long hash", { idHash: new Uint8Array(33) }, { id_hash: "parameter_invalid" }],
    ["no payload", { payloadJson: "" }, { payload_json: "parameter_invalid" }],
    ["a payload that is no JSON", { payloadJson: "{" }, { payload_json: "parameter_invalid" }],
    ["a payload that is no object", { payloadJson: "[]" }, { payload_json: "parameter_invalid" }],
    ["a large payload", { payloadJson: `{"a":"${"x".repeat(65_529)}"}` }, { payload_json: "parameter_invalid" }],
    [
      "a payload large in bytes",
      { payloadJson: `{"a":"${"é".repeat(32_765)}"}` },
      { payload_json: "parameter_invalid" },
    ],
    ["no end", { expiresAt: undefined }, { expires_at: "parameter_missing" }],
    ["an end that has come", { expiresAt: toTimestamp(1) }, { expires_at: "parameter_invalid" }],
    ["a far end", { expiresAt: toTimestamp(Date.UTC(2040, 0, 1) * 1000) }, { expires_at: "parameter_invalid" }],
    ["no grant", { grantId: undefined }, { grant_id: "parameter_missing" }],
    ["what is no grant", { grantId: newId("inst") }, { grant_id: "invalid_id" }],
    ["a grant of a request", { kind: PUSHED_REQUEST, scopes: [] }, { grant_id: "parameter_invalid" }],
    ["no scopes", { scopes: [] }, { scopes: "parameter_missing" }],
    ["an unknown scope", { scopes: ["x"] }, { "scopes.0": "parameter_invalid" }],
    ["scopes of a code", { kind: CODE }, { scopes: "parameter_invalid" }],
    ["a short predecessor", { predecessorHash: new Uint8Array(31) }, { predecessor_hash: "parameter_invalid" }],
    [
      "a predecessor of a code",
      { kind: CODE, scopes: [], predecessorHash: new Uint8Array(32) },
      { predecessor_hash: "parameter_invalid" },
    ],
    [
      "everything at once",
      { idHash: new Uint8Array(1), payloadJson: "1", expiresAt: undefined, scopes: [], grantId: undefined },
      {
        id_hash: "parameter_invalid",
        payload_json: "parameter_invalid",
        expires_at: "parameter_missing",
        scopes: "parameter_missing",
        grant_id: "parameter_missing",
      },
    ],
  ])("with %s is refused", async (_, bad, faults) => {
    expect(await faultsOf(store(ACCESS_TOKEN, { grantId: newId("grnt"), ...bad }))).toEqual(faults);
  });

  test("is named by its kind and 32 bytes, and used with a grace of at most 10 minutes", async () => {
    const idHash = hashOf("x");
    for (const bad of [
      { kind: CODE, idHash: new Uint8Array(31) },
      { kind: ArtifactKind.UNSPECIFIED, idHash },
    ]) {
      const param = bad.kind === CODE ? "id_hash" : "kind";
      for (const call of [oauth.findArtifact(bad), oauth.deleteArtifact(bad), oauth.consumeArtifact(bad)]) {
        expect(await faultsOf(call)).toEqual({ [param]: "parameter_invalid" });
      }
    }
    for (const graceSeconds of [-1, 601]) {
      const call = oauth.consumeArtifact({ kind: REFRESH_TOKEN, idHash, graceSeconds });
      expect(await faultsOf(call)).toEqual({ grace_seconds: "parameter_invalid" });
    }
    for (const kind of [ACCESS_TOKEN, INTERACTION]) {
      expect(await faultsOf(oauth.consumeArtifact({ kind, idHash }))).toEqual({ kind: "parameter_invalid" });
    }
    expect(await consume(CODE, "unknown")).toBe(false);
    await oauth.deleteArtifact({ kind: CODE, idHash });
  });

  test("is found as it was stored until it expires, and then forgotten", async () => {
    const { grantId } = await newGrant();
    const payloadJson = `{"a":"${"x".repeat(65_528)}"}`;
    const kinds = [CODE, REFRESH_TOKEN, INTERACTION, PUSHED_REQUEST];
    const tokens = await Promise.all(
      kinds.map((kind) =>
        store(kind, { payloadJson, ...(kind === CODE || kind === REFRESH_TOKEN ? { grantId } : {}) }),
      ),
    );
    for (const [index, kind] of kinds.entries()) {
      const token = tokens[index] ?? "";
      expect(await find(kind, token)).toMatchObject({ payloadJson, isConsumed: false });
      for (const other of kinds.filter((each) => each !== kind)) expect(await isKept(other, token)).toBe(false);
    }
    const [code = ""] = tokens;
    now += hour - 1;
    await at(1).forget();
    expect(await isKept(CODE, code)).toBe(true);
    now += 1;
    expect(await isKept(CODE, code)).toBe(false);
    expect(await consume(CODE, code)).toBe(false);
    expect(await countOf("expires_at <= $1", formatMicros(now))).toBeGreaterThanOrEqual(4);
    await at(1).forget();
    expect(await countOf("expires_at <= $1", formatMicros(now))).toBe(0);
  });

  test("that is stored again changes nothing, unless it is an interaction", async () => {
    const { grantId } = await newGrant();
    const refreshToken = await store(REFRESH_TOKEN, { grantId, payloadJson: '{"n":1}' });
    expect(await consume(REFRESH_TOKEN, refreshToken)).toBe(true);
    const repeat = { idHash: hashOf(refreshToken), payloadJson: '{"n":2}' };
    await store(REFRESH_TOKEN, { ...repeat, grantId });
    expect((await find(REFRESH_TOKEN, refreshToken)).payloadJson).toBe('{"n":1}');
    expect(await countOf("id_hash = $1 AND consumed_at IS NOT NULL", hashOf(refreshToken))).toBe(1);
    await store(INTERACTION, { ...repeat, payloadJson: "{}" });
    await store(INTERACTION, { ...repeat, expiresAt: toTimestamp(now + 2 * hour) });
    now += hour;
    expect((await find(INTERACTION, refreshToken)).payloadJson).toBe('{"n":2}');
  });

  test("of a grant is kept up to a limit, and what ends first is forgotten", async () => {
    const { grantId } = await newGrant();
    const first = await store(REFRESH_TOKEN, { grantId });
    const other = await store(CODE, { grantId, expiresAt: toTimestamp(now + 1) });
    await client.query(
      `INSERT INTO identity.oauth_artifacts (kind, id_hash, payload, grant_id, expires_at)
       SELECT kind, sha256(n::text::bytea), payload, grant_id, expires_at + n * interval '1 second'
       FROM identity.oauth_artifacts, generate_series(1, $2) AS n WHERE id_hash = $1`,
      [hashOf(first), artifactsPerGrantMax - 1],
    );
    expect(await isKept(REFRESH_TOKEN, first)).toBe(true);
    const last = await store(REFRESH_TOKEN, { grantId, expiresAt: toTimestamp(now + 24 * hour) });
    expect(await isKept(REFRESH_TOKEN, first)).toBe(false);
    expect(await isKept(REFRESH_TOKEN, last)).toBe(true);
    expect(await isKept(CODE, other)).toBe(true);
    const ofGrant =
      "kind = 'refresh_token' AND grant_id = (SELECT grant_id FROM identity.oauth_artifacts WHERE id_hash = $1)";
    expect(await countOf(ofGrant, hashOf(last))).toBe(artifactsPerGrantMax);
    await oauth.endGrant({ grantId, reason: RevokedReason.APP });
    expect(await isKept(REFRESH_TOKEN, last)).toBe(false);
  });

  test("that is stored while its installation ends is not left behind", async () => {
    for (let round = 0; round < 5; round++) {
      const { id, grantId, propertyId } = await newGrant();
      const tokens = twenty.map((index) => hashOf(`${grantId} ${index}`));
      const stores = tokens.map((idHash) => store(REFRESH_TOKEN, { grantId, idHash }));
      const ending = { propertyId, installationId: id, reason: RevokedReason.UNINSTALLED };
      await Promise.all([...stores, at(round).apps.endInstallation(ending)]);
      expect(await countOf("id_hash = ANY($1)", tokens)).toBe(0);
    }
  });
});

describe("of twenty uses at once", () => {
  test.each([0, 60])(
    "one of a code is good, with a grace of %i s, and the others end the installation",
    async (grace) => {
      const grant = await newGrant();
      const [code, token] = [await store(CODE, grant), await store(ACCESS_TOKEN, { grantId: grant.grantId })];
      const uses = await Promise.all(twenty.map((index) => consume(CODE, code, grace, index)));
      expect(uses.filter(Boolean)).toHaveLength(1);
      expect(await reasonOf(grant)).toBe(RevokedReason.TOKEN_REUSE);
      expect(await isOpen(token)).toBe(false);
      expect(await consume(CODE, code, grace)).toBe(false);
    },
  );

  test("all of a refresh token are good within the grace, and one without a grace", async () => {
    const [kept, ended] = [await newGrant(), await newGrant()];
    const tokens = await Promise.all([kept, ended].map(({ grantId }) => store(REFRESH_TOKEN, { grantId })));
    const usesOf = (token = "", grace = 0) =>
      Promise.all(twenty.map((index) => consume(REFRESH_TOKEN, token, grace, index)));
    expect((await usesOf(tokens[0], 60)).filter(Boolean)).toHaveLength(20);
    expect(await reasonOf(kept)).toBe(RevokedReason.UNSPECIFIED);
    expect((await usesOf(tokens[1], 0)).filter(Boolean)).toHaveLength(1);
    expect(await reasonOf(ended)).toBe(RevokedReason.TOKEN_REUSE);
  });

  test("one of a pushed request is good, and nothing ends", async () => {
    const request = await store(PUSHED_REQUEST);
    expect((await find(PUSHED_REQUEST, request)).isConsumed).toBe(false);
    const uses = await Promise.all(twenty.map((index) => consume(PUSHED_REQUEST, request, 60, index)));
    expect(uses.filter(Boolean)).toHaveLength(1);
    expect((await find(PUSHED_REQUEST, request)).isConsumed).toBe(true);
    expect(takeEnded()).toEqual([]);
  });
});

describe("a refresh token that is used again", () => {
  const grace = 60;
  const rounds: [string, { waits?: number; uses?: "access" | "refresh"; grace?: number; isGood: boolean }][] = [
    ["at once", { isGood: true }],
    ["at the end of the grace", { waits: grace * second, isGood: true }],
    ["after the grace", { waits: grace * second + 1, isGood: false }],
    ["at once, without a grace", { grace: 0, isGood: false }],
    ["after its access token was used", { uses: "access", isGood: false }],
    ["after its successor was used", { uses: "refresh", isGood: false }],
  ];
  test.each(rounds)("%s", async (_, { waits = 0, uses, grace: seconds = grace, isGood }) => {
    const grant = await newGrant();
    const { grantId } = grant;
    const token = await store(REFRESH_TOKEN, { grantId, expiresAt: toTimestamp(now + 90 * 24 * hour) });
    const apart = await newGrant();
    expect(await consume(REFRESH_TOKEN, token, seconds)).toBe(true);
    const successor = { grantId, predecessorHash: hashOf(token) };
    const [access, next] = [await store(ACCESS_TOKEN, successor), await store(REFRESH_TOKEN, successor)];
    // A code and a token that were given for nothing of it do not count.
    const older = await store(ACCESS_TOKEN, { grantId });
    await authenticate(older);
    takeEnded();
    if (uses === "access") await authenticate(access, 1);
    if (uses === "refresh") expect(await consume(REFRESH_TOKEN, next, seconds, 1)).toBe(true);
    now += waits;
    expect(await consume(REFRESH_TOKEN, token, seconds)).toBe(isGood);
    expect(await reasonOf(grant)).toBe(isGood ? RevokedReason.UNSPECIFIED : RevokedReason.TOKEN_REUSE);
    expect([await isOpen(access), await isOpen(older), await isKept(REFRESH_TOKEN, next)]).toEqual([
      isGood,
      isGood,
      isGood,
    ]);
    expect(takeEnded()).toEqual(isGood ? [] : [grant.id]);
    expect(await reasonOf(apart)).toBe(RevokedReason.UNSPECIFIED);
  });

  test("does not end an installation that has a newer consent", async () => {
    const grant = await newGrant();
    const token = await store(REFRESH_TOKEN, { grantId: grant.grantId });
    await consume(REFRESH_TOKEN, token, 0);
    const uses = twenty.map((index) => consume(REFRESH_TOKEN, token, 0, index));
    const { grantId } = await install(grant.appId);
    expect(await Promise.all(uses)).toEqual(uses.map(() => false));
    await oauth.findGrant({ grantId });
    expect(await consume(REFRESH_TOKEN, token, 0)).toBe(false);
    expect(await reasonOf(grant)).toBe(RevokedReason.UNSPECIFIED);
  });
});

test("no secret, code or token is in the database, in any form of its own", async () => {
  const { app, secret = "" } = await newApp();
  const { secret: added } = await apps.addAppSecret({ appId: app.id });
  const { grantId } = await install(app.id);
  const tokens = [await store(CODE, { grantId }), await store(REFRESH_TOKEN, { grantId }), await store(INTERACTION)];
  const access = await store(ACCESS_TOKEN, { grantId });
  await authenticate(access);
  const { rows: tables } = await client.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'identity'::regnamespace AND relkind = 'r'",
  );
  expect(tables.length).toBeGreaterThan(10);
  const dump: string[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query<{ text: string }>(`SELECT t::text AS text FROM identity.${name} t`);
    dump.push(...rows.map(({ text }) => text));
  }
  const all = dump.join("\n");
  for (const each of [secret, added, ...tokens, access]) {
    const bytes = Buffer.from(each);
    // A prefix of 12 characters is shown in lists; bytea is dumped in hex.
    const forms = [each.slice(12), bytes.subarray(12).toString("hex"), Buffer.from(each, "base64url").toString("hex")];
    for (const form of forms) expect(all.includes(form)).toBe(false);
  }
  expect(all).toContain(Buffer.from(hashOf(access)).toString("hex"));
});
