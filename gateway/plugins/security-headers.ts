/**
 * Headers that keep browsers and caches from making more of an answer than it is. Strict-Transport-Security is not among them: whoever ends TLS
 * in front of the gateway knows whether the whole host has it, and over plain HTTP browsers pass it over.
 */
import { fastifyPlugin } from "fastify-plugin";

/** For every answer that does not say otherwise: data, nothing of which is to be shown as a page, sniffed or kept. */
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
