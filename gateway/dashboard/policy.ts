/** Security headers of the dashboard's pages. */
import type { FastifyReply } from "fastify";

// Nothing but our own files, no inline script or style, and no text that becomes script.
const common =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** What other pages learn of the address of a page. */
export type Referrer = "no-referrer" | "same-origin";

/** @param formTarget an origin that a form may lead to, beside ours: Chrome looks at what it is redirected to. */
export function pageHeaders(referrer: Referrer, formTarget?: string): Record<string, string> {
  const targets = formTarget === undefined ? "'self'" : `'self' ${formTarget}`;
  return {
    "content-security-policy": `${common}; form-action ${targets}`,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": referrer,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
}

export function setPageHeaders(reply: FastifyReply, referrer: Referrer): void {
  void reply.headers(pageHeaders(referrer));
}
