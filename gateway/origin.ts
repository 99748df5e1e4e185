/** The public address of this gateway, for links and documents. */
import type { FastifyRequest } from "fastify";
import { fastifyPlugin } from "fastify-plugin";

declare module "fastify" {
  interface FastifyRequest {
    /** Such as `https://daybook.example.com`, without a trailing slash. */
    readonly publicOrigin: string;
  }
}

// Hosts that are safe in links; a client may send anything.
const hostPattern = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;
const hostUnknown = "daybook.example.com";
// Headers that the address depends on without PUBLIC_URL.
const varying = "Host, X-Forwarded-Host, X-Forwarded-Proto";

/** @param publicUrl if undefined, requests decide, and X-Forwarded-* headers of trusted proxies. */
export const originPlugin = fastifyPlugin<{ publicUrl: string | undefined }>((app, { publicUrl }) => {
  app.decorateRequest("publicOrigin", {
    getter(this: FastifyRequest) {
      if (publicUrl !== undefined) return publicUrl;
      const scheme = this.protocol === "https" ? "https" : "http";
      return `${scheme}://${hostPattern.test(this.host) ? this.host : hostUnknown}`;
    },
  });
  app.addHook("onSend", async (_request, reply) => {
    // Only cacheable answers need Vary.
    if (publicUrl !== undefined || reply.getHeader("cache-control") === "no-store") return;
    void reply.header("vary", [reply.getHeader("vary"), varying].flatMap((names) => names ?? []).join(", "));
  });
});
