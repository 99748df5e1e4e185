/** Known path, wrong method: 405 with Allow, in the error form of the surface. Register it after the routes of a scope. */
import type { FastifyInstance } from "fastify";
import { DaybookError } from "#shared/values/errors.ts";

/** Notes the routes that a scope registers from here on; the function that it returns adds the answers for all other methods. */
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
        // Before the body is looked at.
        onRequest: async (request, reply) => {
          void reply.header("allow", allow);
          throw new DaybookError(
            "method_not_allowed",
            `The method ${request.method} is not allowed here. Use one of ${allow}.`,
          );
        },
        handler: () => undefined,
      });
    }
  };
}
