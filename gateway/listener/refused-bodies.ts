/** What becomes of a body that is refused for its length. */
import type { FastifyInstance } from "fastify";

// For the client to read the answer, and to close its side.
const lingerMs = 2_000;
const readOutBytesMax = 64 * 1024 * 1024;

/**
 * Reads a body that is too large to its end when it says how long it is, so that its sender, who may read nothing before all is written, gets the
 * answer instead of a connection that breaks. Others are read for a moment: a connection that is closed with bytes unread takes the answer along.
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
