/** The operator's commands for tests. */
import { inject } from "vitest";
import { runCommand, type Ended } from "../../gateway/cli/main.ts";
import { inheritedEnv } from "./processes.ts";

/** Runs a command to its end, within this process: to start one takes longer than what most commands do. */
export function daybook(env: Record<string, string>, ...words: string[]): Promise<Ended> {
  return runCommand(words, { ...inheritedEnv, ...env });
}

/** How the commands reach the shared mesh. */
export function meshEnv(): Record<string, string> {
  const { identityUrl, profileUrl, eventUrl, metricUrl, webhookUrl, internalToken } = inject("mesh");
  return {
    IDENTITY_URL: identityUrl,
    PROFILE_URL: profileUrl,
    EVENT_URL: eventUrl,
    METRIC_URL: metricUrl,
    WEBHOOK_URL: webhookUrl,
    INTERNAL_TOKEN: internalToken,
  };
}
