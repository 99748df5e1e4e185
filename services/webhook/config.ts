import type { SettingsReader } from "#shared/process/config.ts";
import { networkProblem } from "./egress/networks.ts";

/** Settings of the webhook service. */
export interface WebhookSettings {
  /** Networks in CIDR form to which messages may go although they are not of the public internet, and by http. */
  allowedNetworks: readonly string[];
}

const networksMax = 100;

/** Reads WEBHOOK_ALLOWED_NETWORKS: networks in CIDR form with commas between; none by default. */
export function readWebhookSettings(reader: SettingsReader): WebhookSettings {
  const name = "WEBHOOK_ALLOWED_NETWORKS";
  const networks = reader.optional(name)?.split(",") ?? [];
  if (networks.length > networksMax) reader.problem(`${name} must have at most ${networksMax} networks`);
  const allowedNetworks = networks.slice(0, networksMax).map((entry) => entry.trim());
  for (const network of allowedNetworks) {
    const problem = network === "" ? "must not have a comma that no network follows" : networkProblem(network);
    if (problem !== undefined) reader.problem(`${name} ${problem}${network === "" ? "" : `; got ${network}`}`);
  }
  return { allowedNetworks };
}
