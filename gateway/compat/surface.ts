/** The compatibility surface: the JSON:API of another platform. It is registered twice, with `/api` and without it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CompatSettings } from "../config.ts";
import { readJsonBody } from "../plugins/json-body.ts";
import { collectMethods } from "../plugins/method-not-allowed.ts";
import { callerOf } from "../plugins/request.ts";
import type { SurfaceContext } from "../surface/exchange.ts";
import { addRoutes } from "../surface/routes.ts";
import { notSupported, sendCompatError } from "./errors.ts";
import { CompatExchange } from "./exchange.ts";
import type { CompatOperation } from "./operation.ts";
import { areas, unsupportedAreas } from "./paths.ts";
import { readQuery } from "./query.ts";
import { echoRevision } from "./reply.ts";
import { compatRoutes } from "./routes.ts";

// The limit of the other platform.
const bodyBytesMax = 5 * 1024 * 1024;
const ownSchemes = ["compat-api-key", "bearer"];
// Some clients accept only keys with this prefix, so it may precede a Daybook key.
const keyPrefix = "pk_";
// Larger than natively, because a body of 5 MB holds more values than one of 2 MB.
const bodyValuesMax = 600_000;
const byteOrderMark = Buffer.from("\ufeff");

/** Registers the surface under the prefix of the plugin. */
export function compatSurface(context: SurfaceContext, settings: CompatSettings) {
  return async (app: FastifyInstance): Promise<void> => {
    app.setErrorHandler(async (error, request, reply) =>
      sendCompatError(context.log, await app.settleRate(request, reply, error), request, reply),
    );
    app.addHook("onRequest", async (request, reply) => echoRevision(request, reply));
    const schemes = ["Bearer", ...settings.authSchemes].join(", ");
    app.addHook("onSend", async (_request, reply) => {
      if (reply.statusCode === 401) void reply.header("www-authenticate", schemes);
      const limit = reply.getHeader("ratelimit-limit");
      // In the format of the other platform: the limit, then the limit with its window in seconds.
      if (typeof limit === "number") void reply.header("ratelimit-limit", `${limit}, ${limit};w=60`);
    });
    app.removeAllContentTypeParsers();
    const types = ["application/json", "application/vnd.api+json"];
    app.addContentTypeParser(types, { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) =>
      readJsonBody(request, withoutByteOrderMark(body), { valuesMax: bodyValuesMax }),
    );
    const addMethodNotAllowed = collectMethods(app);
    const authSchemes = [...new Set([...ownSchemes, ...settings.authSchemes.map((scheme) => scheme.toLowerCase())])];
    addRoutes(app, compatRoutes, ({ operation }) => exchangeReader(context, operation), {
      bodyLimit: bodyBytesMax,
      config: { authSchemes, keyPrefix },
    });
    addMethodNotAllowed();
    if (app.prefix === "") addUnsupported(app);
    else app.setNotFoundHandler((request, reply) => sendCompatError(context.log, notSupported(), request, reply));
  };
}

/** Creates the request reader of a route. It throws DaybookError; the query is checked before the body. */
function exchangeReader<Body>(context: SurfaceContext, operation: CompatOperation<Body>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<CompatExchange<Body>> => {
    const { id = "" } = request.params as { id?: string };
    const caller = callerOf(request);
    const query = readQuery(request, operation.query ?? {}, context.cursors, operation.id + id);
    const body = await operation.body?.read(request.body, { caller, clock: context.clock });
    return new CompatExchange(context, request, reply, { id, query, body: body as Body });
  };
}

/** Some clients on Windows send a byte order mark. */
function withoutByteOrderMark(body: Buffer): Buffer {
  return body.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? body.subarray(byteOrderMark.length) : body;
}

/** Without `/api`, only known paths of the other platform belong to this surface. */
function addUnsupported(app: FastifyInstance): void {
  const paths = [
    ...areas.map((area) => `/${area}/*`),
    ...unsupportedAreas.flatMap((area) => [`/${area}`, `/${area}/*`]),
  ];
  for (const url of paths) {
    app.route({
      method: app.supportedMethods,
      url,
      config: { isRefusal: true },
      onRequest: async () => {
        throw notSupported();
      },
      handler: () => undefined,
    });
  }
}
