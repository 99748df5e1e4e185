/** The profile service alone, as a process. */
import { runService } from "#shared/process.ts";
import { createProfile } from "./service.ts";

await runService({
  name: "profile",
  port: 8102,
  internalPort: 9102,
  read: () => ({}),
  create: createProfile,
});
