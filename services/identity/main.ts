/** The identity service alone, as a process. */
import { runService } from "#shared/process.ts";
import { isSecret, newSecret, type ModeName } from "./domain/secret.ts";
import { createIdentity } from "./service.ts";

await runService({
  name: "identity",
  port: 8101,
  internalPort: 9101,
  read(reader) {
    const key = (mode: ModeName, name: string): string => {
      const secret = reader.optional(name);
      if (secret === undefined) return newSecret(mode);
      if (!isSecret(secret, mode)) reader.problem(`${name} must be sk_${mode}_ and at least 32 letters and digits`);
      return secret;
    };
    return { live: key("live", "BOOTSTRAP_LIVE_KEY"), test: key("test", "BOOTSTRAP_TEST_KEY") };
  },
  create: (context, { settings }) =>
    createIdentity(context, {
      bootstrapKeys: settings,
      // The only time that they can be seen, unless they were given.
      onBootstrap: ({ live, test }) => {
        if (process.env.BOOTSTRAP_LIVE_KEY === undefined) process.stdout.write(`live key: ${live}\n`);
        if (process.env.BOOTSTRAP_TEST_KEY === undefined) process.stdout.write(`test key: ${test}\n`);
      },
    }),
});
