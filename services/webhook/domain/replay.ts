/** From where a replay takes messages of each type. */
import { webhookTypeNames } from "#shared/values/webhook-types.ts";

const profileTypes: ReadonlySet<string> = new Set(["profile.created", "profile.merged", "profile.redacted"]);
/** They answer something that was asked for, or are the last of an endpoint. */
const neverAgain: ReadonlySet<string> = new Set(["webhook.test", "app.uninstalled"]);

/** Whether messages of a type are made of stored events. */
export function isOfEvents(type: string): boolean {
  return type === "event.recorded" || profileTypes.has(type);
}

/** Types whose messages are taken as they are stored. */
export const typesFromStore: ReadonlySet<string> = new Set(
  webhookTypeNames.filter((type) => !isOfEvents(type) && !neverAgain.has(type)),
);

/** Types that can be sent again. */
export const replayedTypes: readonly string[] = webhookTypeNames.filter((type) => !neverAgain.has(type));
