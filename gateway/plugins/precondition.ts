/** Refuses If-Match on writes that ignore it, because the client relies on it. */
import { fastifyPlugin } from "fastify-plugin";
import { DaybookError } from "#shared/values/errors.ts";
import { isWrite } from "./idempotency.ts";

export const preconditionPlugin = fastifyPlugin((app) => {
  app.addHook("preValidation", async (request) => {
    if (request.headers["if-match"] === undefined || !isWrite(request)) return;
    if (request.routeOptions.config.operation?.precondition) return;
    const message = "If-Match is not supported here: only writes to one profile take it. Send the request without it.";
    throw new DaybookError("parameter_invalid", message, { param: "If-Match" });
  });
});
