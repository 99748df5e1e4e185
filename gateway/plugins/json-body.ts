/** Bodies are JSON in UTF-8, read without loss, and nothing else is taken. */
import { fastifyPlugin } from "fastify-plugin";
import { DaybookError } from "#shared/errors.ts";
import { parseJsonBytes } from "#shared/json.ts";

export const jsonBodyPlugin = fastifyPlugin((app) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    // Some clients send the type with every request. A deletion has no body.
    if (body.length === 0 && request.method === "DELETE") return done(null, undefined);
    try {
      done(null, parseJsonBytes(body as Buffer));
    } catch (error) {
      const message = error instanceof SyntaxError ? error.message : "The body is not JSON.";
      done(new DaybookError("invalid_json", message, { cause: error }), undefined);
    }
  });
});
