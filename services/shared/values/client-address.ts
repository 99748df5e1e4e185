/** Client addresses: which of them count as one client. */
import { isIP } from "node:net";

/** Before an IPv4 address that is mapped into IPv6. */
export const mappedPrefix = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;
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
