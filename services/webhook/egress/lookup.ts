/**
 * Look-ups of names. The system's look-up waits in one of the few threads of the process, so a name whose servers never
 * answer would hold up all others. DNS is asked without threads; the system, for names of its own such as those in
 * /etc/hosts, only where DNS knows none, and for one name at a time.
 */
import type { LookupAddress } from "node:dns";
import { lookup as systemLookup, Resolver } from "node:dns/promises";
import { createFairShare } from "#shared/scheduling/fair-share.ts";

/** Looks up all addresses of a name. Rejects when it has none. */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

const queryTimeoutMs = 1_500;
const queryTries = 2;
const waitMsMax = 5_000;
const waitingMax = 500;

/** Makes the look-up of the process. */
export function createLookup(): Lookup {
  const share = createFairShare({
    slotsMax: 1,
    slotsPerKeyMax: 1,
    waitingMax,
    waitingPerKeyMax: 5,
    waitMsMax,
    refusal: () => new Error("too many names are being looked up"),
  });
  return async (hostname, signal) => {
    const found = await askDns(hostname, signal);
    if (found.length > 0) return found;
    return share.run(hostname, () => systemLookup(hostname, { all: true, order: "verbatim" }), signal);
  };
}

/** Resolvers are made anew, because one keeps the servers that it was made with. */
async function askDns(hostname: string, signal: AbortSignal): Promise<LookupAddress[]> {
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: queryTries });
  const cancel = (): void => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    signal.throwIfAborted();
    return [
      ...(ipv4.status === "fulfilled" ? ipv4.value.map((address) => ({ address, family: 4 })) : []),
      ...(ipv6.status === "fulfilled" ? ipv6.value.map((address) => ({ address, family: 6 })) : []),
    ];
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
