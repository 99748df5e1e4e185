/** Client addresses: which of them is counted as one client, and which proxies may speak for others. */
import { BlockList, isIP } from "node:net";

/** Addresses of a network, in CIDR form or alone. */
export type TrustedProxies = readonly string[];

/** Whether an address is that of a proxy whose X-Forwarded-* headers count. */
export type IsTrusted = (address: string | undefined) => boolean;

const mappedPrefix = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;
const groups = 8;
// One customer of an access provider has a /64 at least, and all addresses in it.
const clientGroups = 4;

/**
 * What a client address is counted as: an IPv4 address as it is, also when it comes mapped into IPv6; an IPv6 address by its /64.
 * Text that is no address is counted as it is, and so is a connection that is closed already and has none.
 */
export function clientOf(address = ""): string {
  const plain = address.replace(mappedPrefix, "");
  return isIP(plain) === 6 ? `${networkOf(plain)}::/64` : plain;
}

function networkOf(address: string): string {
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const before = splitGroups(head);
  const after = tail === undefined ? [] : splitGroups(tail);
  const missing = Array.from({ length: Math.max(0, groups - before.length - after.length) }, () => "0");
  return [...before, ...missing, ...after]
    .slice(0, clientGroups)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}

/** The last 32 bits may be written as an IPv4 address; they are behind the /64 and only count as two groups. */
function splitGroups(text: string): string[] {
  return text === "" ? [] : text.split(":").flatMap((group) => (group.includes(".") ? ["0", "0"] : [group]));
}

/**
 * Makes the check for a list of addresses and networks.
 * @throws RangeError that names the first entry that is neither.
 */
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
