/** Maps apps and installations to messages. */
import { create } from "@bufbuild/protobuf";
import {
  AppSchema,
  AppStatus,
  AppType,
  AppWebhookSchema,
  InstallationSchema,
  InstallationStatus,
  RevokedReason,
  type App,
  type AppWebhook,
  type Installation,
} from "#proto/daybook/identity/v1/apps_pb.ts";
import { encodeId } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { AppStatusName, AppTypeName, RevokedReasonName } from "../domain/apps.ts";
import { modeOfName } from "../mapping.ts";
import type { AppRow, AppSecretRow } from "../sql/apps.ts";
import type { InstallationRow } from "../sql/installations.ts";

const typeOfName: Record<AppTypeName, AppType> = { confidential: AppType.CONFIDENTIAL, public: AppType.PUBLIC };
const statusOfName: Record<AppStatusName, AppStatus> = { active: AppStatus.ACTIVE, suspended: AppStatus.SUSPENDED };
const reasonOfName: Record<RevokedReasonName, RevokedReason> = {
  uninstalled: RevokedReason.UNINSTALLED,
  token_reuse: RevokedReason.TOKEN_REUSE,
  app: RevokedReason.APP,
  suspended: RevokedReason.SUSPENDED,
  operator: RevokedReason.OPERATOR,
};

/** @param secrets oldest first. */
export function toApp(row: AppRow, secrets: readonly AppSecretRow[]): App {
  return create(AppSchema, {
    id: encodeId("app", row.id),
    name: row.name,
    description: row.description,
    homepageUrl: row.homepage_url ?? undefined,
    redirectUris: row.redirect_uris,
    scopes: row.scopes,
    type: typeOfName[row.type],
    status: statusOfName[row.status],
    webhook: toWebhook(row),
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    secrets: secrets.map((secret) => ({
      id: encodeId("secr", secret.id),
      displayPrefix: secret.display_prefix,
      createdAt: toTimestamp(secret.created_at),
    })),
  });
}

/** What is known of the webhook of an app; undefined without one. */
export function toWebhook(row: Pick<AppRow, "webhook_url" | "webhook_types">): AppWebhook | undefined {
  const { webhook_url: url, webhook_types: types } = row;
  return url === null ? undefined : create(AppWebhookSchema, { url, types: types ?? [] });
}

export function toInstallation(row: InstallationRow): Installation {
  return create(InstallationSchema, {
    id: encodeId("inst", row.id),
    appId: encodeId("app", row.app_id),
    propertyId: encodeId("prop", row.property_id),
    mode: modeOfName[row.mode],
    scopes: row.scopes,
    status: row.revoked_at === null ? InstallationStatus.ACTIVE : InstallationStatus.REVOKED,
    revokedReason: row.revoked_reason === null ? RevokedReason.UNSPECIFIED : reasonOfName[row.revoked_reason],
    installedBy: encodeId("mem", row.installed_by),
    revision: row.revision,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    revokedAt: toTimestamp(row.revoked_at),
    lastUsedAt: toTimestamp(row.last_used_at),
  });
}

/** The name of a type; undefined if it is invalid. */
export function toTypeName(type: AppType): AppTypeName | undefined {
  return nameOf(typeOfName, type);
}

/** The name of a status; undefined if it is invalid. */
export function toStatusName(status: AppStatus): AppStatusName | undefined {
  return nameOf(statusOfName, status);
}

/** The name of a reason; undefined if it is invalid. */
export function toReasonName(reason: RevokedReason): RevokedReasonName | undefined {
  return nameOf(reasonOfName, reason);
}

function nameOf<Name extends string, Value>(values: Record<Name, Value>, wanted: Value): Name | undefined {
  return (Object.keys(values) as Name[]).find((name) => values[name] === wanted);
}
