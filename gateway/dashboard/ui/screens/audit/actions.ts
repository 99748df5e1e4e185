/**
 * What an audit entry says was done, in words. A test compares the table with the methods that leave entries. It holds
 * data only, so that tests can load it outside a browser.
 */

const words: Readonly<Record<string, string>> = {
  sign_in: "Signed in",
  account_made: "Made an account by a link",
  password_replaced: "Replaced a lost password by a link",
  "daybook.dashboard.v1.DashboardService/SignOut": "Signed out",
  "daybook.dashboard.v1.DashboardService/RevealProfile": "Revealed identifiers of a profile",
  "daybook.dashboard.v1.DashboardService/RevealRejectedWrite": "Revealed what a refused write had sent",
  "daybook.profile.v1.ProfileService/UpdateTags": "Changed tags of a profile",
  "daybook.profile.v1.ProfileService/UpdateProfile": "Changed a profile",
  "daybook.profile.v1.ProfileService/AddIdentifier": "Added an identifier",
  "daybook.profile.v1.ProfileService/PromoteIdentifier": "Made an identifier the first of its type",
  "daybook.profile.v1.ProfileService/RemoveIdentifier": "Removed an identifier",
  "daybook.profile.v1.ProfileService/MergeProfiles": "Merged profiles",
  "daybook.profile.v1.ProfileService/RedactProfile": "Redacted a profile",
  "daybook.metric.v1.MetricService/CreateMetric": "Registered a metric",
  "daybook.metric.v1.MetricService/UpdateMetric": "Described a metric",
  "daybook.metric.v1.MetricService/RebuildRollups": "Had events counted anew",
  "daybook.identity.v1.IdentityService/CreateKey": "Created a key",
  "daybook.identity.v1.IdentityService/RotateKey": "Rotated a key",
  "daybook.identity.v1.IdentityService/RevokeKey": "Revoked a key",
  "daybook.identity.v1.IdentityService/CreateProperty": "Created a property",
  "daybook.identity.v1.IdentityService/UpdateProperty": "Changed a property's settings",
  app_installed: "Installed an app",
  privacy_export_downloaded: "Downloaded what is kept of a person",
  "daybook.identity.v1.AppService/CreateApp": "Created an app",
  "daybook.identity.v1.AppService/UpdateApp": "Changed an app",
  "daybook.identity.v1.AppService/AddAppSecret": "Added a secret to an app",
  "daybook.identity.v1.AppService/RemoveAppSecret": "Removed a secret of an app",
  "daybook.identity.v1.AppService/EndInstallation": "Uninstalled an app",
  "daybook.webhook.v1.WebhookService/CreateEndpoint": "Created a webhook",
  "daybook.webhook.v1.WebhookService/UpdateEndpoint": "Changed a webhook",
  "daybook.webhook.v1.WebhookService/DeleteEndpoint": "Deleted a webhook",
  "daybook.webhook.v1.WebhookService/RotateEndpointSecret": "Rotated the secret of a webhook",
  "daybook.webhook.v1.WebhookService/CreateReplay": "Replayed messages to a webhook",
  "daybook.webhook.v1.WebhookService/TestEndpoint": "Tested a webhook",
  "daybook.webhook.v1.WebhookService/RetryDelivery": "Sent a message to a webhook again",
  "daybook.webhook.v1.WebhookService/RotateAppWebhookSecret": "Rotated the webhook secret of an app",
  "daybook.event.v1.RejectedWriteService/UpdateRejectedWriteSettings": "Changed what is kept of refused writes",
  "daybook.profile.v1.PrivacyService/CreatePrivacyRequest": "Made a privacy request",
  "daybook.profile.v1.PrivacyService/CancelPrivacyRequest": "Cancelled a privacy request",
  "daybook.profile.v1.PrivacyService/RetryPrivacyRequest": "Retried a privacy request",
  "daybook.profile.v1.PrivacyService/DeleteSuppression": "Let a suppressed identifier in again",
  "daybook.identity.v1.MemberService/CreateSetupLink": "Made a setup link",
  "daybook.identity.v1.MemberService/ConfirmPassword": "Confirmed the password",
  "daybook.identity.v1.MemberService/ChangePassword": "Changed the password",
  "daybook.identity.v1.MemberService/EndSession": "Ended sessions",
  "daybook.identity.v1.MemberService/InviteMember": "Invited a person",
  "daybook.identity.v1.MemberService/UpdateMember": "Changed a member",
  "daybook.identity.v1.MemberService/RemoveMember": "Removed a member",
  "daybook.identity.v1.MemberService/RevokeInvitation": "Revoked an invitation",
  "daybook.common.v1.BusService/Republish": "Had messages published again",
  "daybook.common.v1.BusService/RetryDeadLetters": "Gave dead letters back",
};

/** In words; another method by its own name, so that no entry is without one. */
export function actionInWords(action: string): string {
  if (Object.hasOwn(words, action)) return words[action] ?? action;
  const name = action.split("/").at(-1) ?? action;
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ");
}

export const knownActions: readonly string[] = Object.keys(words);
