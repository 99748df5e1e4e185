/** Apps, installations and access tokens for tests, made by RPC: no browser and no authorization server take part. */
import { hash, randomBytes } from "node:crypto";
import { AppType, RevokedReason } from "#proto/daybook/identity/v1/apps_pb.ts";
import { ArtifactKind } from "#proto/daybook/identity/v1/oauth_pb.ts";
import { newId } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { scopes as allScopes } from "../../services/identity/domain/scopes.ts";
import { createApi, type Api } from "./api.ts";
import { testCall, type TestDaybook } from "./daybook.ts";

/** The access of an app to a property, as of one consent. */
export interface TestInstallation {
  appId: string;
  installationId: string;
  propertyId: string;
  /** Of this consent. */
  grantId: string;
  /** A client with an access token of this consent, which ends in an hour. */
  newToken(options?: TokenOptions): Promise<TestToken>;
  /** Ends the installation, as somebody of the property does. */
  end(): Promise<void>;
}

export interface TokenOptions {
  scopes?: readonly string[];
  /** Since 1970, by the clock of the Daybook. */
  expiresAtMs?: number;
  /** The token itself; a random one by default. */
  token?: string;
  /** What it is kept as. */
  kind?: ArtifactKind;
}

export interface TestToken extends Api {
  token: string;
}

/** An access token as the authorization server makes them. */
export function randomToken(): string {
  return randomBytes(32).toString("base64url");
}

export async function newApp(
  { clients: { apps } }: Pick<TestDaybook, "clients">,
  scopes: readonly string[] = allScopes,
): Promise<string> {
  const { app } = await apps.createApp(
    {
      name: "Test app",
      redirectUris: ["https://app.example.com/callback"],
      scopes: [...scopes],
      type: AppType.CONFIDENTIAL,
    },
    testCall,
  );
  return app?.id ?? "";
}

/** Consents to an app in a property; by default to a new app, and to all scopes. */
export async function installApp(
  daybook: Pick<TestDaybook, "clients" | "baseUrl">,
  propertyId: string,
  { appId: known, scopes = allScopes }: { appId?: string; scopes?: readonly string[] } = {},
): Promise<TestInstallation> {
  const { oauth, apps } = daybook.clients;
  const appId = known ?? (await newApp(daybook));
  const consent = { appId, propertyId, scopes: [...scopes], memberId: newId("mem") };
  const { installation, grantId } = await oauth.installApp(consent, testCall);
  const installationId = installation?.id ?? "";
  return {
    appId,
    installationId,
    propertyId,
    grantId,
    async newToken({
      scopes: some = scopes,
      expiresAtMs = Date.now() + 3_600_000,
      token = randomToken(),
      kind = ArtifactKind.ACCESS_TOKEN,
    } = {}) {
      await oauth.storeArtifact(
        {
          kind,
          idHash: hash("sha256", token, "buffer"),
          payloadJson: "{}",
          expiresAt: toTimestamp(expiresAtMs * 1000),
          grantId,
          scopes: kind === ArtifactKind.ACCESS_TOKEN ? [...some] : [],
        },
        testCall,
      );
      return { token, ...createApi(daybook.baseUrl, token) };
    },
    async end() {
      await apps.endInstallation({ propertyId, installationId, reason: RevokedReason.UNINSTALLED }, testCall);
    },
  };
}

/** An access token of a new app that is installed in a property. */
export async function newToken(
  daybook: Pick<TestDaybook, "clients" | "baseUrl">,
  propertyId: string,
  scopes: readonly string[] = allScopes,
): Promise<TestToken> {
  return (await installApp(daybook, propertyId, { scopes })).newToken();
}
