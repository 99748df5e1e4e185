/** Answers 405 with Allow for a known path, in the surface's error form. Register it after the routes of a scope. */
import type { FastifyInstance } from "fastify";
import { DaybookError } from "#shared/values/errors.ts";
import { sentMethod } from "../listener/methods.ts";

/** Collects the routes that a scope registers from here on. @returns a function that adds 405 for other methods. */
export function collectMethods(app: FastifyInstance): () => void {
  const allowed = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const known = allowed.get(url) ?? new Set();
    for (const name of [method].flat()) known.add(name);
    allowed.set(url, known);
  });
  return () => {
    for (const [url, known] of Array.from(allowed)) {
      const allow = [...known].toSorted().join(", ");
      app.route({
        method: app.supportedMethods.filter((method) => !known.has(method)),
        url: url.slice(app.prefix.length),
        config: { isRefusal: true },
        // In onRequest, before the body is read.
        onRequest: async (request, reply) => {
          void reply.header("allow", allow);
          throw new DaybookError(
            "method_not_allowed",
            `The method ${sentMethod(request.raw)} is not allowed here. Use one of ${allow}.`,
          );
        },
        handler: () => undefined,
      });
    }
  };
}
