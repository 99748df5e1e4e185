/** Settings of the identity service. */
import type { SettingsReader } from "#shared/process/config.ts";
import type { ModeName } from "#shared/values/key-form.ts";
import { isSecret } from "./domain/secret.ts";

/** Reads BOOTSTRAP_LIVE_KEY and BOOTSTRAP_TEST_KEY; undefined if unset. */
export function readBootstrapKeys(reader: SettingsReader): Record<ModeName, string | undefined> {
  const read = (mode: ModeName, name: string): string | undefined => {
    const secret = reader.optional(name);
    if (secret !== undefined && !isSecret(secret, mode)) {
      reader.problem(`${name} must be sk_${mode}_ and at least 32 letters and digits`);
    }
    return secret;
  };
  return { live: read("live", "BOOTSTRAP_LIVE_KEY"), test: read("test", "BOOTSTRAP_TEST_KEY") };
}
