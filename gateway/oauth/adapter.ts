/**
 * Where oidc-provider keeps what it issues: in the identity service, by SHA-256. Its ids are the codes and tokens
 * themselves, so they are taken out of what is stored, and put back when it is found. Its grants are installations of
 * apps. Its sessions are not kept: members have those of the dashboard.
 */
import { hash } from "node:crypto";
import type { Client } from "@connectrpc/connect";
import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";
import { RevokedReason, type Installation } from "#proto/daybook/identity/v1/apps_pb.ts";
import { ArtifactKind, type OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import type { Clock } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { isId } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { toClientMetadata } from "./clients.ts";
import { asOAuthError } from "./errors.ts";
import { errors, Provider } from "./library.ts";
import { oauthPaths } from "./paths.ts";

export interface AdapterOptions {
  oauth: Client<typeof OAuthService>;
  clock: Clock;
  issuer: string;
  graceSeconds: number;
  /** Called before a code or refresh token is used. @throws when the app makes too many requests. */
  takeRequest: (clientId: string) => void;
  /** Called when a code or refresh token was used again. */
  noteReuse: (clientId: string) => void;
  /** Called with what a grant gives access to. */
  noteInstallation: (installation: Installation) => void;
}

const call = systemCall("gateway");
const idLengthMax = 512;

const kinds: Readonly<Record<string, ArtifactKind>> = {
  AuthorizationCode: ArtifactKind.CODE,
  AccessToken: ArtifactKind.ACCESS_TOKEN,
  RefreshToken: ArtifactKind.REFRESH_TOKEN,
  Interaction: ArtifactKind.INTERACTION,
  PushedAuthorizationRequest: ArtifactKind.PUSHED_REQUEST,
};
// What oidc-provider does not need kept between two requests.
const unkept: ReadonlySet<string> = new Set(["Session", "ReplayDetection"]);

export function createAdapters(options: AdapterOptions): AdapterFactory {
  return (name) => {
    if (name === "Client") return { ...nothing, find: (id) => findClient(options, id) };
    if (name === "Grant") return { ...nothing, find: (id) => findGrant(options, id) };
    if (unkept.has(name)) return nothing;
    const kind = kinds[name];
    if (kind === undefined) return unused(name);
    return artifacts(options, kind);
  };
}

/** Keeps nothing. */
const nothing: Adapter = {
  upsert: () => Promise.resolve(),
  find: () => Promise.resolve(undefined),
  findByUserCode: () => Promise.resolve(undefined),
  findByUid: () => Promise.resolve(undefined),
  consume: () => Promise.resolve(),
  destroy: () => Promise.resolve(),
  revokeByGrantId: () => Promise.resolve(),
};

/** Of features that are switched off. */
function unused(name: string): Adapter {
  const refuse = (): never => {
    throw new Error(`the authorization server keeps no ${name}`);
  };
  return { ...nothing, upsert: refuse, find: refuse, consume: refuse };
}

async function findClient({ oauth }: AdapterOptions, id: string): Promise<AdapterPayload | undefined> {
  if (!isId(id) || !id.startsWith("app_")) return undefined;
  return orNothing(async () => toClientMetadata(await oauth.findClient({ appId: id }, call)));
}

async function findGrant(
  { oauth, noteInstallation }: AdapterOptions,
  grantId: string,
): Promise<AdapterPayload | undefined> {
  return orNothing(async () => {
    const { installation } = await oauth.findGrant({ grantId }, call);
    if (!installation) return undefined;
    noteInstallation(installation);
    const { appId, installedBy, scopes } = installation;
    return {
      kind: "Grant",
      jti: grantId,
      accountId: installedBy,
      clientId: appId,
      openid: { scope: scopes.join(" ") },
    };
  });
}

function artifacts(options: AdapterOptions, kind: ArtifactKind): Adapter {
  const { oauth, clock, issuer, graceSeconds } = options;
  const isToken = kind === ArtifactKind.ACCESS_TOKEN || kind === ArtifactKind.REFRESH_TOKEN;
  const isGranted = isToken || kind === ArtifactKind.CODE;

  return {
    ...nothing,
    async upsert(id, { jti: _jti, returnTo: _returnTo, ...payload }, expiresIn) {
      if (expiresIn === undefined) throw new Error("what is kept has an end");
      const rotated = isToken ? Provider.ctx?.oidc.entities.RotatedRefreshToken?.jti : undefined;
      const message = {
        kind,
        idHash: hashOf(id),
        payloadJson: JSON.stringify(payload),
        expiresAt: toTimestamp(clock.nowMicros() + expiresIn * 1_000_000),
        ...(isGranted && payload.grantId !== undefined ? { grantId: payload.grantId } : {}),
        scopes: kind === ArtifactKind.ACCESS_TOKEN ? (payload.scope ?? "").split(" ").filter(Boolean) : [],
        ...(rotated === undefined ? {} : { predecessorHash: hashOf(rotated) }),
      };
      await orOAuthError(() => oauth.storeArtifact(message, call));
    },
    async find(id) {
      if (id.length > idLengthMax) return undefined;
      return orNothing(async () => {
        const { payloadJson, isConsumed } = await oauth.findArtifact({ kind, idHash: hashOf(id) }, call);
        const payload = { ...(JSON.parse(payloadJson) as AdapterPayload), jti: id };
        if (isConsumed) payload.consumed = true;
        if (kind === ArtifactKind.INTERACTION) payload.returnTo = `${issuer}${oauthPaths.authorization}/${id}`;
        return payload;
      });
    },
    async consume(id) {
      const isRequest = kind === ArtifactKind.PUSHED_REQUEST;
      const clientId = Provider.ctx?.oidc.client?.clientId ?? "";
      if (!isRequest) options.takeRequest(clientId);
      const { isGood } = await orOAuthError(() =>
        oauth.consumeArtifact({ kind, idHash: hashOf(id), graceSeconds }, call),
      );
      if (isGood) return;
      if (isRequest) throw new errors.InvalidRequestUri("request_uri was already used");
      options.noteReuse(clientId);
      throw new errors.InvalidGrant("it was already used");
    },
    async destroy(id) {
      await orOAuthError(() => oauth.deleteArtifact({ kind, idHash: hashOf(id) }, call));
    },
    async revokeByGrantId(grantId) {
      // An app that gives an access token back keeps its installation; with the refresh token it gives up all.
      if (kind !== ArtifactKind.REFRESH_TOKEN || !Provider.ctx?.oidc.entities.RefreshToken) return;
      await orOAuthError(() => oauth.endGrant({ grantId, reason: RevokedReason.APP }, call));
    },
  };
}

function hashOf(id: string): Buffer {
  return hash("sha256", id, "buffer");
}

/** Of what is not there, nothing. */
async function orNothing<T>(find: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof DaybookError && error.status < 500) return undefined;
    throw asOAuthError(error);
  }
}

async function orOAuthError<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw asOAuthError(error);
  }
}
