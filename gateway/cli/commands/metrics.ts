/** Commands for metrics. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "../command.ts";

const lookIntervalMs = 500;

export const metricCommands: readonly Command[] = [
  {
    name: "metrics rebuild",
    usage: "",
    summary:
      "counts all stored events anew, and shows that when it is done, without those of detached partitions; of all " +
      "properties unless one is named",
    words: [0, 0],
    options: [],
    optional: ["property"],
    async run(services, { options: { property } }) {
      const which = property === undefined ? {} : { propertyId: property };
      const { properties } = await services.metrics.rebuildRollups(which);
      for (;;) {
        const { propertiesBuilding } = await services.metrics.describeRollups(which);
        if (propertiesBuilding === 0) break;
        await sleep(lookIntervalMs);
      }
      return { text: `The events of ${properties} properties were counted anew.`, json: { properties } };
    },
  },
];
