import {
  AppStatus,
  AppType,
  InstallationStatus,
  RevokedReason,
  type App,
  type Installation,
} from "#proto/daybook/identity/v1/apps_pb.ts";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { timeOrNull, timeText } from "#shared/wire/text.ts";

const reasonNames: Record<RevokedReason, string | null> = {
  [RevokedReason.UNSPECIFIED]: null,
  [RevokedReason.UNINSTALLED]: "uninstalled",
  [RevokedReason.TOKEN_REUSE]: "token_reuse",
  [RevokedReason.APP]: "app",
  [RevokedReason.SUSPENDED]: "suspended",
  [RevokedReason.OPERATOR]: "operator",
};

/** An app, without what is known of its secrets. */
export function appJson(app: App): string {
  return JSON.stringify({
    id: app.id,
    object: "app",
    name: app.name,
    description: app.description,
    homepage_url: app.homepageUrl ?? null,
    redirect_uris: app.redirectUris,
    scopes: app.scopes,
    webhook: app.webhook ? { url: app.webhook.url, types: app.webhook.types } : null,
    type: app.type === AppType.PUBLIC ? "public" : "confidential",
    status: app.status === AppStatus.ACTIVE ? "active" : "suspended",
    created_at: timeText(app.createdAt),
    updated_at: timeText(app.updatedAt),
  });
}

export function installationJson(installation: Installation): string {
  return JSON.stringify(installationFields(installation));
}

export function installationFields(installation: Installation): object {
  return {
    id: installation.id,
    object: "installation",
    app_id: installation.appId,
    property_id: installation.propertyId,
    livemode: installation.mode === Mode.LIVE,
    scopes: installation.scopes,
    status: installation.status === InstallationStatus.ACTIVE ? "active" : "revoked",
    revoked_reason: reasonNames[installation.revokedReason],
    installed_by: installation.installedBy,
    revision: installation.revision,
    created_at: timeText(installation.createdAt),
    updated_at: timeText(installation.updatedAt),
    revoked_at: timeOrNull(installation.revokedAt),
    last_used_at: timeOrNull(installation.lastUsedAt),
  };
}
