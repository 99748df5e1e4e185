/**
 * Security headers. Strict-Transport-Security is not among them: the proxy that terminates TLS knows whether the whole
 * host uses it, and browsers ignore it over plain HTTP.
 */
import { fastifyPlugin } from "fastify-plugin";

/** Defaults for answers that do not set these headers: data that must not be rendered, sniffed or cached. */
export const securityHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

export const securityHeadersPlugin = fastifyPlugin((app) => {
  app.addHook("onSend", async (_request, reply) => {
    for (const name in securityHeaders) {
      if (!reply.hasHeader(name)) void reply.header(name, securityHeaders[name]);
    }
  });
});
