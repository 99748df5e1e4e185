/** `npm run test:cluster`: tests that need programs of Debian. Each starts all that it needs. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/cluster/**/*.test.ts"],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    maxWorkers: 1,
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
});
