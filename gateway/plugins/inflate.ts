/**
 * Compressed bodies: gzip and deflate, inflated no further than a body may be long. Others are refused: Brotli and Zstandard let the sender choose
 * how many megabytes each reader sets aside.
 */
import { Transform, type Readable } from "node:stream";
import { createGunzip, createInflate } from "node:zlib";
import { fastifyPlugin } from "fastify-plugin";
import { DaybookError } from "#shared/errors.ts";
import { bodyTooLarge } from "../refusals.ts";

const inflaters: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
};

/** What Fastify reads a body from. */
type Body = Transform & { receivedEncodedLength: number };

export const inflatePlugin = fastifyPlugin((app) => {
  app.addHook("preParsing", async (request, reply, payload) => {
    const encoding = request.headers["content-encoding"]?.toLowerCase();
    if (encoding === undefined || encoding === "identity") return payload;
    const create = Object.hasOwn(inflaters, encoding) ? inflaters[encoding] : undefined;
    if (!create) {
      void reply.header("accept-encoding", "gzip, deflate");
      throw new DaybookError("unsupported_media_type", "The Content-Encoding of a body is gzip, deflate or none.");
    }
    return inflate(payload, create(), request.routeOptions.bodyLimit);
  });
});

/** Inflates a body. Ends with an error as soon as there is too much of it, on either side. */
function inflate(payload: Readable, inflater: Transform, bytesMax: number): Body {
  let inflated = 0;
  const transform = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      inflated += chunk.length;
      if (inflated > bytesMax) done(bodyTooLarge(bytesMax));
      else done(null, chunk);
    },
  });
  const body: Body = Object.assign(transform, { receivedEncodedLength: 0 });
  payload.on("data", (chunk: Buffer) => {
    body.receivedEncodedLength += chunk.length;
    // Compressed text need not ever give a byte.
    if (body.receivedEncodedLength > bytesMax) body.destroy(bodyTooLarge(bytesMax));
  });
  payload.once("error", (error) => body.destroy(error));
  inflater.once("error", (cause) => {
    body.destroy(new DaybookError("bad_request", "The body is not what its Content-Encoding says.", { cause }));
  });
  body.once("error", () => {
    // What still comes is not looked at. The request itself must stay: over its connection goes the answer.
    payload.unpipe(inflater);
    inflater.destroy();
    payload.resume();
  });
  payload.pipe(inflater).pipe(body);
  return body;
}
