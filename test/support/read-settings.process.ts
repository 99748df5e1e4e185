/** Loaded before a process of Daybook: writes the names of the settings that it reads to file descriptor 3, as JSON. */
import { writeSync } from "node:fs";

const names = new Set<string>();
process.env = new Proxy(process.env, {
  get(env, name) {
    if (typeof name === "string") names.add(name);
    return Reflect.get(env, name);
  },
});
process.on("exit", () => writeSync(3, JSON.stringify([...names])));
