/** Refuses unknown paths before the body is read. */
import { fastifyPlugin } from "fastify-plugin";
import { noSuchPath } from "../refusals.ts";

export const unknownPathPlugin = fastifyPlugin((app) => {
  app.addHook("onRequest", async (request) => {
    // An empty id means a slash at the end of a list's path.
    if (request.is404 || Object.values(request.params as object).includes("")) throw noSuchPath(request.url);
  });
});
