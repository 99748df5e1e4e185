/** How busy the machine is, with the bench and whatever else. */
import { cpus } from "node:os";

/** CPU times of all processors since boot. */
export function cpuTimes(): { busy: number; all: number } {
  let [busy, all] = [0, 0];
  for (const { times } of cpus()) {
    const sum = Object.values(times).reduce((total, time) => total + time, 0);
    busy += sum - times.idle;
    all += sum;
  }
  return { busy, all };
}
