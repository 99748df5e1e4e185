/** Paths that are not there are refused before the body is looked at: nobody has said who sends it. */
import { fastifyPlugin } from "fastify-plugin";
import { noSuchPath } from "../refusals.ts";

export const unknownPathPlugin = fastifyPlugin((app) => {
  app.addHook("onRequest", async (request) => {
    // An empty id is a slash at the end of the path of a list.
    if (request.is404 || Object.values(request.params as object).includes("")) throw noSuchPath(request.url);
  });
});
