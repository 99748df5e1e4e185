/** The address that clients see this gateway under: the one place that makes it, for links and documents. */
import type { FastifyRequest } from "fastify";
import { fastifyPlugin } from "fastify-plugin";

declare module "fastify" {
  interface FastifyRequest {
    /** Such as `https://daybook.example.com`, without a slash at the end. */
    readonly publicOrigin: string;
  }
}

// What can stand in links as it is; a client may send anything.
const hostPattern = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;
const hostUnknown = "daybook.example.com";
// What the address depends on while it is not set.
const varying = "Host, X-Forwarded-Host, X-Forwarded-Proto";

/** @param publicUrl the address that is set for this gateway; without it, it is as requests say, and as trusted proxies say of them. */
export const originPlugin = fastifyPlugin<{ publicUrl: string | undefined }>((app, { publicUrl }) => {
  app.decorateRequest("publicOrigin", {
    getter(this: FastifyRequest) {
      if (publicUrl !== undefined) return publicUrl;
      const scheme = this.protocol === "https" ? "https" : "http";
      return `${scheme}://${hostPattern.test(this.host) ? this.host : hostUnknown}`;
    },
  });
  app.addHook("onSend", async (_request, reply) => {
    // Only what caches may keep needs to say it.
    if (publicUrl === undefined && reply.getHeader("cache-control") !== "no-store") void reply.header("vary", varying);
  });
});
