/** Assembles the gateway: plugins and surfaces in the order of registration. */
import { fromBinary } from "@bufbuild/protobuf";
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { KeyEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import type { Clock } from "#shared/values/clock.ts";
import type { Log } from "#shared/process/log.ts";
import { addHealthRoutes } from "#shared/rpc/server.ts";
import type { Signals } from "#shared/bus/signals.ts";
import { bindableServices, type Clients } from "./clients.ts";
import { compatSurface } from "./compat/surface.ts";
import { compatDefaults, edgeDefaults, type CompatSettings, type EdgeSettings } from "./config.ts";
import { docsRoutes } from "./docs/routes.ts";
import { createHttp } from "./http.ts";
import { createEnds } from "./ends.ts";
import { createExports } from "./export/exports.ts";
import { createCallerUse } from "./caller-use.ts";
import { createCursors } from "./cursor.ts";
import { dashboardDefaults, type DashboardSettings } from "./dashboard/settings.ts";
import { createDashboard, dashboardSurface } from "./dashboard/surface.ts";
import { sendError, sendNotFound } from "./native/errors.ts";
import { nativeSurface } from "./native/surface.ts";
import { authenticationPlugin, callerAgeMsMax as ageDefault } from "./plugins/authentication.ts";
import { idempotencyPlugin } from "./plugins/idempotency.ts";
import { framingPlugin } from "./plugins/framing.ts";
import { inflatePlugin } from "./plugins/inflate.ts";
import { jsonBodyPlugin } from "./plugins/json-body.ts";
import { memoryPlugin } from "./plugins/memory.ts";
import { preconditionPlugin } from "./plugins/precondition.ts";
import { rejectionsPlugin } from "./plugins/rejections.ts";
import { rateLimitPlugin } from "./plugins/rate-limit.ts";
import { collectMethods } from "./plugins/method-not-allowed.ts";
import { requestPlugin } from "./plugins/request.ts";
import { securityHeadersPlugin } from "./plugins/security-headers.ts";
import { revisionPlugin } from "./plugins/revision.ts";
import { createDocument } from "./openapi.ts";
import { unknownPathPlugin } from "./plugins/unknown-path.ts";
import { oauthDefaults, type OAuthSettings } from "./oauth/settings.ts";
import { oauthSurface } from "./oauth/surface.ts";
import { createOperations } from "./operations.ts";
import { originPlugin } from "./origin.ts";
import { createAddressWindows } from "./rate/address-windows.ts";
import type { RateLimits } from "./rate/limits.ts";
import { createRateShares } from "./rate/shares.ts";
import { createGatherer } from "./rejections/gatherer.ts";
import { createProfiles } from "./profiles.ts";
import { showReachability } from "./reachability.ts";
import { createGatewayReadiness, type Readiness } from "./readiness.ts";
import { createRecording } from "./recording.ts";

export interface GatewayContext {
  clients: Clients;
  clock: Clock;
  log: Log;
  registry: Registry;
  limits: RateLimits;
  /** Overrides of edgeDefaults. */
  edge?: Partial<EdgeSettings> | undefined;
  /** Shared with the internal health endpoint; by default the gateway makes its own from the clients. */
  readiness?: Readiness | undefined;
  /** Signals of keys and installations that end. Without them a cached caller lives until callerAgeMsMax. */
  signals?: Signals | undefined;
  /** Whether the event service claims Idempotency-Keys as it stores events; false by default. */
  claimsWithEvents?: boolean;
  /** Maximum age of cached callers, 5 s by default. */
  callerAgeMsMax?: number | undefined;
  /** Settings of the compatibility surface; compatDefaults by default. */
  compat?: CompatSettings | undefined;
  /** Overrides of dashboardDefaults. */
  dashboard?: Partial<DashboardSettings> | undefined;
  /** Overrides of oauthDefaults. */
  oauth?: Partial<OAuthSettings> | undefined;
  /** Encrypts cursors, and makes the secrets of OAuth. All gateways of a mesh share it. */
  secret: string;
  /** Cursors and cookies that were made with this secret are read too. */
  acceptedSecret?: string | undefined;
}

/** Closing the gateway waits for the requests under way. */
export async function createGateway(context: GatewayContext): Promise<FastifyInstance> {
  const { clients, clock, log, limits, registry } = context;
  const edge: EdgeSettings = { ...edgeDefaults, ...context.edge };
  const readiness = context.readiness ?? createGatewayReadiness(clients);
  const app = createHttp({ edge, readiness, log, registry });
  showReachability(registry, clients.checkReady);

  const { identity } = clients;
  const shares = createRateShares({ identity, clock, limits, log });
  const callerUse = createCallerUse(identity, clock, log);
  const operations = createOperations(identity, log);
  const gatherer = createGatherer({ client: clients.rejectedWrites, clock, log, registry });
  const callerEnds = createEnds(
    context.signals,
    KeyEndingSchema.typeName,
    (payload) => fromBinary(KeyEndingSchema, payload).keyId,
  );
  const { callerAgeMsMax = ageDefault } = context;

  await app.register(rejectionsPlugin, { gatherer });
  await app.register(securityHeadersPlugin);
  await app.register(requestPlugin);
  await app.register(framingPlugin);
  await app.register(originPlugin, { publicUrl: edge.publicUrl });
  await app.register(rateLimitPlugin, { shares, addresses: createAddressWindows(shares.clock, limits.ordinary) });
  await app.register(authenticationPlugin, { clients, shares, callerUse, callerEnds, callerAgeMsMax, limits });
  await app.register(revisionPlugin);
  await app.register(preconditionPlugin);
  await app.register(idempotencyPlugin, { operations, claimsWithEvents: context.claimsWithEvents ?? false });
  await app.register(unknownPathPlugin);
  await app.register(memoryPlugin, { bytes: edge.bytes, pages: edge.pages, registry });
  await app.register(inflatePlugin);
  await app.register(jsonBodyPlugin);
  app.setErrorHandler(async (error, request, reply) =>
    sendError(log, await app.settleRate(request, reply, error), request, reply),
  );
  app.setNotFoundHandler((request, reply) => sendNotFound(log, request, reply));

  const recording = createRecording(clients.events);
  const profiles = createProfiles(clients.profiles);
  const cursors = createCursors(context.secret, clock, context.acceptedSecret);
  const bindServices = bindableServices(clients);
  const exports = createExports(edge.exports, log);
  const surfaceContext = { bindServices, recording, profiles, exports, cursors, clock, log };
  const compat = compatSurface(surfaceContext, context.compat ?? compatDefaults);
  await app.register(nativeSurface(surfaceContext), { prefix: "/v1" });
  await app.register(compat, { prefix: "/api" });
  await app.register(compat);
  const dashboardOptions = {
    clients,
    bindServices,
    exports,
    log,
    registry,
    readiness,
    cursors,
    clock: shares.clock,
    signals: context.signals,
    settings: { ...dashboardDefaults, ...context.dashboard },
  };
  const dashboard = createDashboard(dashboardOptions);
  await app.register(dashboardSurface(dashboard, dashboardOptions));
  await app.register(
    oauthSurface({
      dashboard,
      clock,
      log,
      registry,
      windowClock: shares.clock,
      publicUrl: edge.publicUrl,
      secret: context.secret,
      acceptedSecret: context.acceptedSecret,
      settings: { ...oauthDefaults, ...context.oauth },
    }),
  );
  const addMethodNotAllowed = collectMethods(app);
  docsRoutes(app, createDocument(edge.publicUrl ?? "/"));
  addHealthRoutes(app, () => readiness.check());
  addMethodNotAllowed();

  app.addHook("onClose", async () => {
    await Promise.all([recording.drain(), profiles.drain(), shares.close(), callerUse.close(), operations.close()]);
    await gatherer.close();
  });
  return app;
}
