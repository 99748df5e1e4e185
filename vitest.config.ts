import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest begins first, so that nothing runs alone at the end, and what starts most processes does not run at the same time. */
const first = ["mesh/rolling", "local/operator", "gateway/metric-aggregates", "local/start", "mesh/crash"];

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
    globalSetup: ["test/support/global-setup.ts"],
    // Real servers take their time when the machine is busy.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
  },
});
