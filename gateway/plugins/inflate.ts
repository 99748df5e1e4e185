/**
 * Inflates gzip and deflate, up to the body limit. Brotli and Zstandard are refused because the sender chooses how many
 * megabytes of memory the decoder allocates.
 */
import { PassThrough, Transform, type Readable } from "node:stream";
import { createGunzip, createInflate } from "node:zlib";
import { fastifyPlugin } from "fastify-plugin";
import { DaybookError } from "#shared/values/errors.ts";
import { bodyTooLarge } from "../refusals.ts";

const inflaters: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
};

/** The stream that Fastify reads a body from. */
type Body = Transform & { receivedEncodedLength: number };

export const inflatePlugin = fastifyPlugin((app) => {
  app.addHook("preParsing", async (request, reply, payload) => {
    const encoding = request.headers["content-encoding"]?.toLowerCase();
    const { bodyLimit } = request.routeOptions;
    const count = request.countBody ?? (() => undefined);
    if (encoding === undefined || encoding === "identity") {
      // A body with Content-Length was counted when it was announced; a chunked one is counted as it arrives.
      const isChunked = request.headers["transfer-encoding"] !== undefined;
      return isChunked ? inflate(payload, new PassThrough(), bodyLimit, count) : payload;
    }
    const create = Object.hasOwn(inflaters, encoding) ? inflaters[encoding] : undefined;
    if (!create) {
      void reply.header("accept-encoding", "gzip, deflate");
      throw new DaybookError("unsupported_media_type", "The Content-Encoding of a body is gzip, deflate or none.");
    }
    return inflate(payload, create(), bodyLimit, count);
  });
});

/**
 * Inflates a body. Fails as soon as the compressed or the inflated size exceeds the limit.
 * @param count is called with each inflated chunk's size; throws when the byte limits are exceeded.
 */
function inflate(payload: Readable, inflater: Transform, bytesMax: number, count: (bytes: number) => void): Body {
  let inflated = 0;
  const transform = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      inflated += chunk.length;
      try {
        if (inflated > bytesMax) throw bodyTooLarge(bytesMax);
        count(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  const body: Body = Object.assign(transform, { receivedEncodedLength: 0 });
  payload.on("data", (chunk: Buffer) => {
    body.receivedEncodedLength += chunk.length;
    // Compressed input may never produce output.
    if (body.receivedEncodedLength > bytesMax) body.destroy(bodyTooLarge(bytesMax));
  });
  payload.once("error", (error) => body.destroy(error));
  inflater.once("error", (cause) => {
    body.destroy(new DaybookError("bad_request", "The body is not what its Content-Encoding says.", { cause }));
  });
  body.once("error", () => {
    // Discards the rest. The request must not be destroyed because the answer uses its connection.
    payload.unpipe(inflater);
    inflater.destroy();
    payload.resume();
  });
  payload.pipe(inflater).pipe(body);
  return body;
}
