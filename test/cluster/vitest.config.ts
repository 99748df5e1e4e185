/** `npm run test:cluster`: tests that need root and programs of Debian, which scripts/cluster-tools.sh installs. */
import { defineConfig } from "vitest/config";

const shared = { experimental: { viteModuleRunner: false, nodeLoader: false }, hookTimeout: 300_000 };

export default defineConfig({
  test: {
    fileParallelism: false,
    projects: [
      {
        test: {
          ...shared,
          name: "pods",
          include: ["test/cluster/overlays.test.ts"],
          globalSetup: ["test/cluster/setup.ts"],
          // A dozen processes start on whatever cores there are.
          testTimeout: 180_000,
        },
      },
      {
        test: {
          ...shared,
          name: "operations",
          include: ["test/cluster/**/*.test.ts"],
          exclude: ["test/cluster/overlays.test.ts"],
          testTimeout: 240_000,
        },
      },
    ],
  },
});
