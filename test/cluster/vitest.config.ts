/** `npm run test:cluster`: tests that need root and programs of Debian, which scripts/cluster-tools.sh installs. */
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
