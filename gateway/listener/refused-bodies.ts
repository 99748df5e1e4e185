import type { FastifyInstance } from "fastify";

// Time for the client to read the answer and close its side.
const lingerMs = 2_000;
const readOutBytesMax = 64 * 1024 * 1024;

/**
 * Discards the rest of a body that was refused with 413, so that a sender that writes all before it reads gets the
 * answer: closing a connection with unread bytes loses it. Bodies of unknown or huge length are read for lingerMs only.
 */
export function readOutRefusedBodies(app: FastifyInstance): void {
  app.addHook("onSend", async ({ headers, raw }, reply) => {
    if (reply.statusCode !== 413) return;
    void reply.removeHeader("connection");
    raw.resume();
    if (Number(headers["content-length"] ?? Number.POSITIVE_INFINITY) <= readOutBytesMax) return;
    const timer = setTimeout(() => raw.socket.destroy(), lingerMs);
    for (const over of ["end", "close"]) raw.once(over, () => clearTimeout(timer));
  });
}
