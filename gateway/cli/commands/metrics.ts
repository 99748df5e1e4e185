/** Commands about metrics. */
import { setTimeout as sleep } from "node:timers/promises";
import { operatorOptions as options, type Command } from "../command.ts";

const lookIntervalMs = 500;

export const metricCommands: readonly Command[] = [
  {
    name: "metrics rebuild",
    usage: "",
    summary:
      "counts all stored events anew, and shows that when it is done, without those of detached partitions; of all properties unless one is named",
    words: [0, 0],
    options: [],
    optional: ["property"],
    async run(clients, { options: { property } }) {
      const which = property === undefined ? {} : { propertyId: property };
      const { properties } = await clients.metrics.rebuildRollups(which, options);
      for (;;) {
        const { propertiesBuilding } = await clients.metrics.describeRollups(which, options);
        if (propertiesBuilding === 0) break;
        await sleep(lookIntervalMs);
      }
      return { text: `The events of ${properties} properties were counted anew.`, json: { properties } };
    },
  },
];
