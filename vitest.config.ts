import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { compileCacheFolder } from "./test/support/processes.ts";

// For the workers too, which take it as they start.
process.env.NODE_COMPILE_CACHE ??= compileCacheFolder;

/**
 * What takes longest begins first, so that nothing runs alone at the end, and what starts most processes does not run
 * at the same time.
 */
const first = [
  "mesh/rolling",
  "dashboard/ui",
  "local/start",
  "mesh/crash",
  "gateway/rate-limits",
  "local/operator",
  "gateway/request-cost",
  "gateway/revocation",
  "services/exactly-once",
  "services/bus-lost",
  "mesh/rotation",
  "services/replicas",
  "gateway/metric-rebuilds",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = first.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return place === -1 ? first.length : place;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's own method
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

export default defineConfig({
  test: {
    include: ["{services,gateway,deploy,test}/**/*.test.ts"],
    // They need root and programs of Debian: see test/cluster/vitest.config.ts.
    exclude: ["test/cluster/**"],
    globalSetup: ["test/support/global-setup.ts"],
    // Real servers take their time when the machine is busy.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // Node runs the sources as it does in production, and a worker loads them once: to load all services takes longer
    // than most files.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    isolate: false,
    sequence: { sequencer: LongestFirst },
  },
});
