/** Addresses of apps: where browsers are sent back to, where messages are sent, and the homepage. */

import { shorten } from "#shared/values/wording.ts";

/** In characters of ASCII. */
export const urlLengthMax = 2_048;
const shownLengthMax = 200;

const loopbackHosts: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);
const visibleAscii = /^[\x21-\x7e]+$/;
const form = /^(https?):\/\/([^/?#]+)([^?#]*)/;
// What a server may decode before it splits a path.
const encoded: Readonly<Record<string, string>> = { "%2e": ".", "%2f": "/", "%5c": "/" };

/**
 * Why an address cannot be one that browsers are sent back to, as the end of a sentence that starts with its name. The
 * authorization server compares addresses by their bytes, so only those that every program reads alike are taken.
 * @param mayBeLoopback whether it may be http on the user's own computer (RFC 8252).
 */
export function redirectProblem(text: string, mayBeLoopback: boolean): string | undefined {
  const problem = formProblem(text);
  if (problem !== undefined) return problem;
  if (text.includes("#")) return "must have no fragment";
  const { protocol, hostname } = new URL(text);
  if (protocol === "https:" || (mayBeLoopback && loopbackHosts.has(hostname))) return undefined;
  return mayBeLoopback
    ? "must begin with https://, or be http on 127.0.0.1, [::1] or localhost"
    : "must begin with https://; only a public app may have http, on a loopback host";
}

/** Why an address cannot be a homepage. */
export function homepageProblem(text: string): string | undefined {
  const problem = formProblem(text);
  return problem ?? (text.startsWith("https://") ? undefined : "must begin with https://");
}

/** Why messages cannot be sent to an address. Where it leads is looked at by who sends them. */
export function webhookProblem(text: string): string | undefined {
  return homepageProblem(text) ?? (text.includes("#") ? "must have no fragment" : undefined);
}

function formProblem(text: string): string | undefined {
  if (!visibleAscii.test(text)) return "must have only visible characters of ASCII; encode others with %";
  if (text.includes("\\")) return "must have no backslash";
  const [, , host, path = ""] = form.exec(text) ?? [];
  if (host === undefined) return 'must be an address such as "https://app.example.com/back"';
  if (host.includes("@")) return "must name no user";
  if (host.includes("*")) return "must name one host, without a wildcard";
  if (!URL.canParse(text)) return "must name a host, and a port of at most 65535 if any";
  const segments = path.replaceAll(/%(?:2e|2f|5c)/gi, (code) => encoded[code.toLowerCase()] ?? code).split("/");
  if (segments.some((segment) => segment === "." || segment === "..")) {
    return "must have no dots as a segment of its path";
  }
  // Hosts in capitals, ports that go without saying, numbers as hosts in other ways of writing.
  const { href } = new URL(text);
  return href === text || href === `${text}/` ? undefined : `must be written as ${shorten(href, shownLengthMax)}`;
}
