/** The metric service alone, as a process. */
import { runService } from "#shared/process.ts";
import { createMetric } from "./service.ts";

await runService({
  name: "metric",
  port: 8104,
  internalPort: 9104,
  read: () => ({}),
  create: createMetric,
});
