/**
 * Networks that messages never go to. These are all of IANA's special-purpose registries of 2025-10-09, also the few
 * blocks that are reachable from everywhere, because nobody receives webhooks there:
 * https://www.iana.org/assignments/iana-ipv4-special-registry
 * https://www.iana.org/assignments/iana-ipv6-special-registry
 * and multicast (RFC 5771, RFC 4291). Of IPv6 all that is not global unicast (2000::/3, RFC 4291) is inside too.
 */
import { BlockList, isIP, isIPv4 } from "node:net";
import type { Reach } from "../domain/urls.ts";

const specialIpv4 = [
  "0.0.0.0/8", // this network, and unspecified
  "10.0.0.0/8", // private
  "100.64.0.0/10", // shared by customers of a provider
  "127.0.0.0/8", // loopback
  "168.63.129.16/32", // not of IANA: services of Azure for the virtual machine that asks
  "169.254.0.0/16", // link-local, where clouds keep their metadata
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.31.196.0/24", // AS112
  "192.52.193.0/24", // AMT
  "192.88.99.0/24", // relays of 6to4
  "192.168.0.0/16", // private
  "192.175.48.0/24", // AS112
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
] as const;

const specialIpv6 = [
  "::/3", // unspecified, loopback, IPv4-compatible, NAT64 (64:ff9b::/96 and 64:ff9b:1::/48), discard-only
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID, AS112, AMT
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4, which has an IPv4 address within
  "2620:4f:8000::/48", // AS112
  "3fff::/20", // documentation
  "4000::/2", // not assigned, and segment routing (5f00::/16)
  "8000::/1", // not assigned, unique local, link-local, site-local, multicast
] as const;

// Within ::/3, and named for whoever looks for it.
const mappedIpv4 = "::ffff:0:0/96";

export type Family = "ipv4" | "ipv6";

/** The networks of this Daybook. */
export interface Networks {
  /** Where an address is. Text that is no address, or has a zone, is inside. */
  reachOf: (address: string) => Reach;
  /**
   * For `net.connect` to addresses of the public internet, of one family. A list of both would be wrong: Node compares
   * IPv4 addresses with rules of IPv6 too.
   */
  readonly blockLists: Readonly<Record<Family, BlockList>>;
}

/** @param allowed networks in CIDR form to which messages may go although they are inside. */
export function createNetworks(allowed: readonly string[]): Networks {
  const blockLists = { ipv4: listOf(specialIpv4), ipv6: listOf([...specialIpv6, mappedIpv4]) };
  const allowedLists = {
    ipv4: listOf(allowed.filter(isOfIpv4)),
    ipv6: listOf(allowed.filter((network) => !isOfIpv4(network))),
  };
  return {
    blockLists,
    reachOf(address) {
      const version = isIP(address);
      if (version === 0 || address.includes("%")) return "inside";
      const family = version === 4 ? "ipv4" : "ipv6";
      if (allowedLists[family].check(address, family)) return "allowed";
      return blockLists[family].check(address, family) ? "inside" : "public";
    },
  };
}

/** Why a text is not a network in CIDR form, as the end of a sentence; undefined if it is one. */
export function networkProblem(text: string): string | undefined {
  const [address = "", prefix = "", ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || address.includes("%") || rest.length > 0 || !/^\d{1,3}$/.test(prefix)) {
    return 'must be a network such as "10.1.0.0/16" or "fd00::/8"';
  }
  const bits = version === 4 ? 32 : 128;
  return Number(prefix) <= bits ? undefined : `must have at most ${bits} bits after the slash`;
}

function isOfIpv4(network: string): boolean {
  return isIPv4(network.split("/")[0] ?? "");
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix = ""] = network.split("/");
    list.addSubnet(address, Number(prefix), isIPv4(address) ? "ipv4" : "ipv6");
  }
  return list;
}
