/** Codes and refresh tokens that are used twice, by two gateways, by many at once, and by a gateway that is killed. */
import { hash } from "node:crypto";
import * as oidc from "openid-client";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AppType, InstallationStatus, RevokedReason } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createApi } from "../support/api.ts";
import { testCall, type SingleProcess, type TestProperty } from "../support/daybook.ts";
import { serveServices, startGateway, type GatewayProcess } from "../support/gateway.ts";
import {
  allow,
  configure,
  install,
  newApp,
  newConsenter,
  newRequest,
  startWithOAuth,
  type Installed,
  type OAuthBrowser,
  type TestApp,
} from "../support/oauth.ts";
import { eventually } from "../support/processes.ts";

const owner = new Owner();
let daybook: SingleProcess;
let other: GatewayProcess;
let property: TestProperty;
let ada: OAuthBrowser;
let app: TestApp;
let config: oidc.Configuration;
let servicesUrl: string;
let database: pg.Client;

beforeAll(async () => {
  daybook = await startWithOAuth(owner, {
    oauth: {
      failuresPerMinute: 10_000,
      requestsPerMinute: 10_000,
      authorizationsPerMinute: 10_000,
      refreshGraceSeconds: 4,
    },
  });
  servicesUrl = await serveServices(daybook, owner);
  // Without a bus, so that it learns of nothing by a signal.
  other = await startGateway(servicesUrl, owner, gatewayEnv());
  property = await daybook.newProperty();
  ada = await newConsenter(daybook);
  app = await newApp(daybook);
  config = await configure(daybook, app);
  database = new pg.Client({ connectionString: daybook.databaseUrl });
  await database.connect();
}, 120_000);

afterAll(async () => {
  await database.end();
  await owner.close();
});

const gatewayEnv = () => ({
  PUBLIC_URL: daybook.baseUrl,
  OAUTH_REFRESH_GRACE_SECONDS: "4",
  LOG_LEVEL: "trace",
});

interface Answer {
  status: number;
  body: { access_token?: string; refresh_token?: string; error?: string };
}

async function requestToken(baseUrl: string, fields: Record<string, string>): Promise<Answer> {
  const body = new URLSearchParams({ client_id: app.app.id, ...fields });
  const response = await fetch(`${baseUrl}/oauth/token`, { method: "POST", body });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

const refresh = (baseUrl: string, token: string) =>
  requestToken(baseUrl, { grant_type: "refresh_token", refresh_token: token });

/** Each test has an installation of its own, because it ends what it has. */
async function newInstallation(): Promise<Installed & { propertyId: string }> {
  const { propertyId } = await daybook.newProperty();
  return { ...(await install(daybook, app, propertyId, ada)), propertyId };
}

const read = async (baseUrl: string, accessToken: string | undefined) =>
  (await createApi(baseUrl, accessToken ?? "").get("/v1/events")).status;

async function newCode(propertyId: string) {
  const request = await newRequest(config, app);
  const back = await allow(daybook, ada, request.url, propertyId);
  return {
    grant_type: "authorization_code",
    code: back.searchParams.get("code") ?? "",
    redirect_uri: app.redirectUri,
    code_verifier: request.verifier,
  };
}

/** Every gateway refuses the tokens within 5 seconds, and the installation says why. */
async function expectEnded(propertyId: string, accessToken: string | undefined): Promise<void> {
  for (const baseUrl of [daybook.baseUrl, other.baseUrl]) {
    await expect.poll(() => read(baseUrl, accessToken), { timeout: 5_500 }).toBe(401);
  }
  const { installations } = await daybook.clients.apps.listInstallations({ propertyId, limit: 1 }, testCall);
  expect(installations).toMatchObject([
    { status: InstallationStatus.REVOKED, revokedReason: RevokedReason.TOKEN_REUSE },
  ]);
}

describe("a code", () => {
  test("that is used twice ends what it gave", async () => {
    const { propertyId } = await daybook.newProperty();
    const good = await newCode(propertyId);
    const first = await requestToken(daybook.baseUrl, good);
    expect(first.status).toBe(200);
    for (const baseUrl of [daybook.baseUrl, other.baseUrl]) {
      expect(await read(baseUrl, first.body.access_token)).toBe(200);
    }
    expect(await requestToken(other.baseUrl, good)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    await expectEnded(propertyId, first.body.access_token);
  });

  test("that twenty use at once is good for at most one, and for nobody in the end", async () => {
    const { propertyId } = await daybook.newProperty();
    const good = await newCode(propertyId);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => requestToken(index % 2 === 0 ? daybook.baseUrl : other.baseUrl, good)),
    );
    const given = answers.filter(({ status }) => status === 200);
    expect(given.length).toBeLessThanOrEqual(1);
    await expectEnded(propertyId, given[0]?.body.access_token);
    for (const { body } of given) expect((await refresh(daybook.baseUrl, body.refresh_token ?? "")).status).toBe(400);
  });
});

describe("a refresh token", () => {
  test("that twenty use at once, at two gateways, has one successor, which goes on", async () => {
    const { refreshToken } = await newInstallation();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        refresh(index % 2 === 0 ? daybook.baseUrl : other.baseUrl, refreshToken),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const body: Answer["body"] = answers[0]?.body ?? {};
    expect(new Set(answers.map(({ body: { access_token: token } }) => token))).toEqual(new Set([body.access_token]));
    expect(new Set(answers.map(({ body: { refresh_token: token } }) => token))).toEqual(new Set([body.refresh_token]));
    expect(await read(other.baseUrl, body.access_token)).toBe(200);
    expect((await refresh(daybook.baseUrl, body.refresh_token ?? "")).status).toBe(200);
  });

  test("can be sent again while its answer may be lost", async () => {
    const { refreshToken, accessToken, propertyId } = await newInstallation();
    const first = await refresh(daybook.baseUrl, refreshToken);
    expect(await refresh(other.baseUrl, refreshToken)).toMatchObject({
      status: 200,
      body: { access_token: first.body.access_token, refresh_token: first.body.refresh_token },
    });
    // The one before is still good for its hour.
    expect(await read(daybook.baseUrl, accessToken)).toBe(200);
    // Now its successor is used.
    expect(await read(daybook.baseUrl, first.body.access_token)).toBe(200);
    expect(await refresh(daybook.baseUrl, refreshToken)).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
    await expectEnded(propertyId, first.body.access_token);
    expect((await refresh(daybook.baseUrl, first.body.refresh_token ?? "")).status).toBe(400);
    expect(await read(daybook.baseUrl, accessToken)).toBe(401);
  });

  test("whose successor was refreshed ends the installation", async () => {
    const { refreshToken, propertyId } = await newInstallation();
    const first = await refresh(daybook.baseUrl, refreshToken);
    const second = await refresh(other.baseUrl, first.body.refresh_token ?? "");
    expect(second.status).toBe(200);
    expect((await refresh(daybook.baseUrl, refreshToken)).status).toBe(400);
    await expectEnded(propertyId, second.body.access_token);
  });

  test("is good again for the seconds of grace only", async () => {
    const { refreshToken, propertyId } = await newInstallation();
    const first = await refresh(daybook.baseUrl, refreshToken);
    await database.query(
      "UPDATE identity.oauth_artifacts SET consumed_at = consumed_at - interval '5 seconds' WHERE id_hash = $1",
      [hash("sha256", refreshToken, "buffer")],
    );
    expect((await refresh(daybook.baseUrl, refreshToken)).status).toBe(400);
    await expectEnded(propertyId, first.body.access_token);
  });

  test("of a gateway that is killed before it answers is sent again to another", async () => {
    const { refreshToken } = await newInstallation();
    const victim = await startGateway(servicesUrl, owner, gatewayEnv());
    // The successor waits in the database for so long that the gateway dies first.
    const predecessor = hash("sha256", refreshToken, "hex");
    await database.query(`
      CREATE FUNCTION identity.wait() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END $$;
      CREATE TRIGGER wait BEFORE INSERT ON identity.oauth_artifacts FOR EACH ROW
        WHEN (NEW.predecessor_hash = '\\x${predecessor}') EXECUTE FUNCTION identity.wait()`);
    await database.query("SELECT pg_advisory_lock(4711)");
    const lost = refresh(victim.baseUrl, refreshToken).catch((error: unknown) => error);
    await eventually(async () => {
      const { rows } = await database.query(
        "SELECT FROM identity.oauth_artifacts WHERE id_hash = $1 AND consumed_at IS NOT NULL",
        [hash("sha256", refreshToken, "buffer")],
      );
      return rows.length > 0 || undefined;
    });
    victim.child.kill("SIGKILL");
    expect(await lost).toBeInstanceOf(Error);
    await database.query("SELECT pg_advisory_unlock(4711)");
    await database.query("DROP TRIGGER wait ON identity.oauth_artifacts; DROP FUNCTION identity.wait()");
    const again = await refresh(other.baseUrl, refreshToken);
    expect(again.status).toBe(200);
    expect(await read(daybook.baseUrl, again.body.access_token)).toBe(200);
    expect((await refresh(daybook.baseUrl, again.body.refresh_token ?? "")).status).toBe(200);
  });

  test("of another app is refused, and stays good", async () => {
    const { refreshToken } = await newInstallation();
    const stranger = await newApp(daybook);
    expect(
      await requestToken(daybook.baseUrl, {
        client_id: stranger.app.id,
        grant_type: "refresh_token",
        refresh_token: refreshToken,
      }),
    ).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    const strange = await configure(daybook, stranger);
    await oidc.tokenRevocation(strange, refreshToken).catch(() => undefined);
    expect((await refresh(daybook.baseUrl, refreshToken)).status).toBe(200);
  });
});

test("codes, tokens and secrets stand in plain neither in the database nor in a log", async () => {
  const secretive = await newApp(daybook, { type: AppType.CONFIDENTIAL });
  const { propertyId } = property;
  const request = await newRequest(config, secretive);
  request.url.searchParams.set("client_id", secretive.app.id);
  const back = await allow(daybook, ada, new URL(request.url.href.replace(daybook.baseUrl, other.baseUrl)), propertyId);
  const code = back.searchParams.get("code") ?? "";
  const body = new URLSearchParams({
    client_id: secretive.app.id,
    client_secret: secretive.secret ?? "",
    grant_type: "authorization_code",
    code,
    redirect_uri: secretive.redirectUri,
    code_verifier: request.verifier,
  });
  const answered = await fetch(`${other.baseUrl}/oauth/token`, { method: "POST", body });
  const tokens = (await answered.json()) as Record<string, string>;
  expect(await read(other.baseUrl, tokens.access_token)).toBe(200);
  const plain = [code, tokens.access_token, tokens.refresh_token, secretive.secret, request.verifier];
  const { rows: tables } = await database.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'identity'::regnamespace AND relkind = 'r'",
  );
  const dumps = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await database.query<{ row: string }>(`SELECT t::text AS row FROM identity.${name} t`);
      return rows.map(({ row }) => row).join("\n");
    }),
  );
  const stored = dumps.join("\n");
  expect(stored).toContain(secretive.app.name);
  for (const secret of plain) {
    const hex = Buffer.from(secret ?? "").toString("hex");
    expect(secret).toMatch(/^.{40,}$/);
    for (const text of [stored, other.output()]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(hex);
    }
  }
});
