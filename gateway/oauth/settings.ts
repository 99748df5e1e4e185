/** Settings of the authorization server. */
import type { SettingsReader } from "#shared/process/config.ts";

export interface OAuthSettings {
  /** For how long a refresh token can be sent again if its answer was lost; 0 makes every second use fatal. */
  refreshGraceSeconds: number;
  /** Good token requests a minute of an app, at one gateway. */
  requestsPerMinute: number;
  /** Refused token requests a minute of a client address, at one gateway. */
  failuresPerMinute: number;
  /** Authorization requests a minute of a client address, at one gateway. Each is kept until it is answered. */
  authorizationsPerMinute: number;
}

/** Without any settings. */
export const oauthDefaults: OAuthSettings = {
  refreshGraceSeconds: 60,
  requestsPerMinute: 60,
  failuresPerMinute: 20,
  authorizationsPerMinute: 120,
};

const graceSecondsMax = 600;

export function readOAuthSettings(reader: SettingsReader): OAuthSettings {
  const { refreshGraceSeconds } = oauthDefaults;
  return {
    ...oauthDefaults,
    refreshGraceSeconds: reader.integer("OAUTH_REFRESH_GRACE_SECONDS", refreshGraceSeconds, 0, graceSecondsMax),
  };
}
