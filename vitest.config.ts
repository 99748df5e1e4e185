import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{services,gateway,deploy,test}/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    // Real servers take their time when the machine is busy.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
