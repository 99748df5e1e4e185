/** Security headers of the dashboard's pages. */
import type { FastifyReply } from "fastify";

// Nothing but our own files, no inline script or style, and no text that becomes script.
const common =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** @param referrer what other pages learn of the address. */
export function setPageHeaders(reply: FastifyReply, referrer: "no-referrer" | "same-origin"): void {
  void reply.headers({
    "content-security-policy": common,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": referrer,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
}
