/**
 * Further states of screens that the tests open, as search parameters; without any each is opened too. Not in the table
 * of screens, which every browser loads.
 */
import type { screens } from "./screens.ts";

export const screenStates: { readonly [Name in keyof typeof screens]?: readonly string[] } = {
  events: ["live=on", "type=no.such&range=24h", "event=evt_00000000000000000000000000"],
  profiles: ["status=merged", "status=redacted&sort=updated", "tag=vip&created=7d&order=oldest"],
  metrics: ["find=nothing-is-like-this", "create=yes"],
  schemas: ["show=conflicts", "of=profile"],
  rejected: ["show=writes", "show=writes&code=no_such_code&severity=warning&range=24h"],
  jobs: ["of=events", "state=running"],
  privacy: ["show=suppressions", "type=erasure&status=failed", "create=erasure", "create=access"],
  keys: ["show=ended", "create=yes"],
  apps: ["show=all", "find=nothing-is-like-this", "in=all", "in=all&create=yes"],
  webhooks: ["show=deliveries", "show=deliveries&status=failed&type=no.such&range=24h", "create=yes"],
  settings: ["create=yes"],
  members: ["invite=yes"],
  audit: ["in=all"],
};
