/** Runs the identity service as a process of its own. */
import { runService } from "#shared/process/service-process.ts";
import { readBootstrapKeys } from "./config.ts";
import { newSecret } from "./domain/secret.ts";
import { createIdentity } from "./service.ts";

await runService({
  name: "identity",
  port: 8101,
  internalPort: 9101,
  read: readBootstrapKeys,
  create: (context, { settings: given, openSignals }) =>
    createIdentity(
      { ...context, signals: openSignals() },
      {
        bootstrapKeys: { live: given.live ?? newSecret("live"), test: given.test ?? newSecret("test") },
        // Printed once, because only hashes of the secrets are stored.
        onBootstrap: ({ live, test }) => {
          if (given.live === undefined) process.stdout.write(`live key: ${live}\n`);
          if (given.test === undefined) process.stdout.write(`test key: ${test}\n`);
        },
      },
    ),
});
