/** Client addresses: which ones count as one client, and which proxies are trusted. */
import { BlockList, isIP } from "node:net";

/** Networks in CIDR form, or single addresses. */
export type TrustedProxies = readonly string[];

/** Whether an address belongs to a proxy whose X-Forwarded-* headers count. */
export type IsTrusted = (address: string | undefined) => boolean;

const mappedPrefix = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;
const groups = 8;
// An access provider assigns a customer at least a /64.
const clientGroups = 4;

/**
 * The client that an address counts as: the IPv4 address, also when mapped into IPv6, or the /64 of an IPv6 address.
 * Other text counts as it is; so does the empty address of a closed connection.
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

/** The last 32 bits may be an IPv4 address. They are outside the /64, so they only count as two groups. */
function splitGroups(text: string): string[] {
  return text === "" ? [] : text.split(":").flatMap((group) => (group.includes(".") ? ["0", "0"] : [group]));
}

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
