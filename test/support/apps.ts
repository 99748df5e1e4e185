/** Apps, installations and access tokens for tests, made by RPC: no browser and no authorization server take part. */
import { hash, randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppType, RevokedReason, type App, type CreateAppRequestSchema } from "#proto/daybook/identity/v1/apps_pb.ts";
import { ArtifactKind } from "#proto/daybook/identity/v1/oauth_pb.ts";
import { newId } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { scopes as allScopes } from "../../services/identity/domain/scopes.ts";
import { createApi, type Api } from "./api.ts";
import { testCall, type TestDaybook } from "./daybook.ts";
import { newMember } from "./members.ts";

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

/** Makes an app, by default a confidential one. */
export async function makeApp(
  { clients: { apps } }: Pick<TestDaybook, "clients">,
  fields: MessageInitShape<typeof CreateAppRequestSchema> = {},
): Promise<{ app: App; secret: string | undefined }> {
  const usual = {
    name: "Parcels",
    redirectUris: ["https://app.example.com/callback"],
    scopes: ["events:write", "profiles:read"],
    type: AppType.CONFIDENTIAL,
  };
  const { app, secret } = await apps.createApp({ ...usual, ...fields }, testCall);
  if (!app) throw new Error("no app was made");
  return { app, secret };
}

/** @returns the id of a new app. */
export async function newApp(
  daybook: Pick<TestDaybook, "clients">,
  scopes: readonly string[] = allScopes,
): Promise<string> {
  return (await makeApp(daybook, { scopes: [...scopes] })).app.id;
}

/** Consents to an app in a property; by default to a new app, and to all scopes. */
export async function installApp(
  daybook: Pick<TestDaybook, "clients" | "baseUrl">,
  propertyId: string,
  {
    appId: known,
    scopes = allScopes,
    memberId = newId("mem"),
  }: { appId?: string; scopes?: readonly string[]; memberId?: string } = {},
): Promise<TestInstallation> {
  const { oauth, apps } = daybook.clients;
  const appId = known ?? (await newApp(daybook));
  const consent = { appId, propertyId, scopes: [...scopes], memberId };
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

export interface InstalledApp {
  app: App;
  installationId: string;
  /** Who consented. */
  memberId: string;
}

/** Makes an app, and installs it in a property with all of its scopes. */
export async function newInstalledApp(
  daybook: TestDaybook,
  propertyId: string,
  fields: MessageInitShape<typeof CreateAppRequestSchema> = {},
): Promise<InstalledApp> {
  const { app } = await makeApp(daybook, fields);
  return { app, ...(await install(daybook, propertyId, app)) };
}

/** Installs an app in a property with all of its scopes, as a new member consents. */
export async function install(
  daybook: TestDaybook,
  propertyId: string,
  { id: appId, scopes }: App,
): Promise<Omit<InstalledApp, "app">> {
  const { memberId } = await newMember(daybook);
  const { installationId } = await installApp(daybook, propertyId, { appId, scopes, memberId });
  return { installationId, memberId };
}
