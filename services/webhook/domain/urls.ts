/** Addresses of endpoints. */
import { DaybookError } from "#shared/values/errors.ts";
import { shorten } from "#shared/values/wording.ts";

/** In characters. */
export const endpointUrlLengthMax = 2_048;

/**
 * Where an address is: of the public internet, of a network that the operator allows, or inside, where no message may
 * go.
 */
export type Reach = "public" | "allowed" | "inside";

/** Says where an IPv4 or IPv6 address is, without brackets. */
export type ReachOf = (address: string) => Reach;

const shownLengthMax = 200;
// URL has read every other spelling: decimal, octal, hexadecimal, shortened, in other digits.
const ipv4Literal = /^\d+\.\d+\.\d+\.\d+$/;
const ipv6Literal = /^\[(.*)\]$/;
const visible = /^[^\s\p{Cc}]+$/u;
// URL drops an empty user.
const userinfo = /^[a-z]+:[\\/]*[^\\/?#]*@/i;

/**
 * Checks the address of an endpoint. What its name stands for is decided at each connection, because it can change.
 * @returns the address as URL writes it.
 * @throws DaybookError `url_not_allowed` with `param`.
 */
export function checkUrl(text: string, reachOf: ReachOf, param = "url"): string {
  const problem = urlProblem(text, reachOf);
  if (problem !== undefined) throw new DaybookError("url_not_allowed", `\`${param}\` ${problem}.`, { param });
  return new URL(text).href;
}

function urlProblem(text: string, reachOf: ReachOf): string | undefined {
  if (text.length > endpointUrlLengthMax) {
    return `must have at most ${endpointUrlLengthMax} characters; got ${text.length}`;
  }
  const url = visible.test(text) ? URL.parse(text) : null;
  if (!url) return 'must be an address such as "https://example.com/hooks"';
  if (url.href.length > endpointUrlLengthMax) {
    return `must have at most ${endpointUrlLengthMax} characters once they are encoded; got ${url.href.length}`;
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must begin with https://";
  if (userinfo.test(text)) return "must have no user and no password";
  if (text.includes("#")) return "must have no fragment";
  const address = addressOf(url.hostname);
  const reach = address === undefined ? undefined : reachOf(address);
  if (reach === "inside") {
    return `must lead to the public internet; ${shorten(url.hostname, shownLengthMax)} is an address of a special network`;
  }
  if (url.protocol === "http:" && reach !== "allowed") {
    return "must begin with https://; http is only for addresses of the networks in WEBHOOK_ALLOWED_NETWORKS";
  }
  return undefined;
}

/** The address that a host of a URL is, without brackets; undefined for a name. */
export function addressOf(hostname: string): string | undefined {
  return ipv6Literal.exec(hostname)?.[1] ?? (ipv4Literal.test(hostname) ? hostname : undefined);
}
