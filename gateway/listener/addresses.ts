/** Proxies whose word about client addresses counts. */
import { BlockList, isIP } from "node:net";
import { mappedPrefix } from "#shared/values/client-address.ts";

/** Networks in CIDR form, or single addresses. */
export type TrustedProxies = readonly string[];

/** Whether an address belongs to a proxy whose X-Forwarded-* headers count. */
export type IsTrusted = (address: string | undefined) => boolean;

/** @throws RangeError with the first entry that is neither an address nor a network */
export function createTrust(proxies: TrustedProxies): IsTrusted {
  if (proxies.length === 0) return () => false;
  const list = new BlockList();
  for (const entry of proxies) {
    const [address = "", prefix, ...others] = entry.split("/");
    const version = isIP(address);
    const bitsMax = version === 6 ? 128 : 32;
    const bits = prefix === undefined ? bitsMax : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
    if (version === 0 || others.length > 0 || !(bits <= bitsMax)) {
      throw new RangeError(`${entry} is neither an address such as 10.0.0.7 nor a network such as 10.0.0.0/8`);
    }
    list.addSubnet(address, bits, version === 6 ? "ipv6" : "ipv4");
  }
  return (address = "") => {
    const plain = address.replace(mappedPrefix, "");
    const version = isIP(plain);
    return version !== 0 && list.check(plain, version === 6 ? "ipv6" : "ipv4");
  };
}
