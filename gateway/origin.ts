/** The address that clients see this gateway under. */
import type { FastifyRequest } from "fastify";

// What can stand in links as it is; a client may send anything.
const hostPattern = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;
const hostUnknown = "daybook.example.com";

/**
 * Such as `https://daybook.example.com`, without a slash at the end. A proxy that ends TLS says so; whoever else says so only misleads himself.
 * @param publicUrl the address that is set for this gateway, if one is.
 */
export function originOf({ headers }: FastifyRequest, publicUrl?: string): string {
  if (publicUrl !== undefined) return publicUrl;
  const scheme = /^https\b/i.test(String(headers["x-forwarded-proto"])) ? "https" : "http";
  const [forwarded = ""] = String(headers["x-forwarded-host"] ?? "").split(",");
  const host = [forwarded.trim(), headers.host ?? ""].find((text) => hostPattern.test(text));
  return `${scheme}://${host ?? hostUnknown}`;
}
