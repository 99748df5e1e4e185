/** The dashboard: the gateway's surface for members and their browsers, under `/dashboard`. */
import { fromBinary } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Registry } from "prom-client";
import { SessionEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import type { Signals } from "#shared/bus/signals.ts";
import type { Log } from "#shared/process/log.ts";
import type { Clients } from "../clients.ts";
import type { Cursors } from "../cursor.ts";
import { html } from "../docs/html.ts";
import { createEnds } from "../ends.ts";
import { collectMethods } from "../plugins/method-not-allowed.ts";
import { createAddressWindows } from "../rate/address-windows.ts";
import type { WindowClock } from "../rate/window-clock.ts";
import type { Readiness } from "../readiness.ts";
import { assetRoutes, readBuild, type Build } from "./assets.ts";
import { createAudit } from "./audit.ts";
import type { DashboardContext } from "./context.ts";
import { createEntrance } from "./entrance.ts";
import { createIssuer } from "./issuer.ts";
import { liveRoutes } from "./live/stream.ts";
import { sendPageError } from "./pages/errors.ts";
import { parseForms, refuseUnsafePlace } from "./pages/forms.ts";
import { issuerPages } from "./pages/issuer.ts";
import { sendPage } from "./pages/layout.ts";
import { linkPages } from "./pages/links.ts";
import { signInPage } from "./pages/sign-in.ts";
import { setPageHeaders } from "./policy.ts";
import { downloadRoute } from "./privacy-download.ts";
import { rpcRoutes } from "./rpc.ts";
import { createSessions } from "./sessions.ts";
import type { DashboardSettings } from "./settings.ts";

export interface DashboardOptions {
  clients: Clients;
  bindServices: DashboardContext["bindServices"];
  exports: DashboardContext["exports"];
  log: Log;
  readiness: Readiness;
  cursors: Cursors;
  /** The windows of members are those of keys. */
  clock: WindowClock;
  signals: Signals | undefined;
  settings: DashboardSettings;
  registry: Registry;
}

const callTimeoutMs = 30_000;

/** What the dashboard and the page of a consent share. */
export function createDashboard(options: DashboardOptions): DashboardContext {
  const { clients, bindServices, exports, log, readiness, cursors, clock, signals, settings } = options;
  const memberEnds = createEnds(
    signals,
    SessionEndingSchema.typeName,
    (payload) => fromBinary(SessionEndingSchema, payload).memberId,
  );
  const sessions = createSessions(clients.members, memberEnds);
  return {
    clients,
    bindServices,
    exports,
    log,
    readiness,
    cursors,
    sessions,
    entrance: createEntrance(sessions, createAddressWindows(clock, settings.requestsPerMinute)),
    audit: createAudit(clients.members, log),
    callTimeoutMs,
    issuer: settings.issuer && createIssuer(settings.issuer),
  };
}

export function dashboardSurface(context: DashboardContext, { settings, registry }: DashboardOptions) {
  const { log } = context;
  return async (app: FastifyInstance): Promise<void> => {
    app.setErrorHandler((error, request, reply) => sendPageError(log, error, request, reply));
    await app.register(rpcRoutes(context));
    const addMethodNotAllowed = collectMethods(app);
    parseForms(app);
    const build = readBuild(settings.uiFolder);
    assetRoutes(app, build);
    signInPage(app, context);
    if (context.issuer) issuerPages(app, context, context.issuer);
    linkPages(app, context);
    liveRoutes(app, context, registry);
    downloadRoute(app, context);
    for (const path of ["/dashboard", "/dashboard/", "/dashboard/*"]) {
      app.get(path, (request, reply) => showApp(context, build, request, reply));
    }
    addMethodNotAllowed();
  };
}

/** The page of the app, for whoever is signed in. The app itself finds the screen of the path. */
async function showApp(
  { entrance }: DashboardContext,
  build: Build | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const refused = refuseUnsafePlace(request, reply);
  if (refused) return refused;
  if (!(await entrance.find(request, reply))) {
    const next = new URLSearchParams({ next: request.url }).toString();
    return reply.header("cache-control", "no-store").redirect(`/dashboard/sign-in?${next}`, 303);
  }
  if (!build) return sendNoBuild(reply);
  setPageHeaders(reply, "no-referrer");
  return reply.type("text/html; charset=utf-8").send(build.index);
}

function sendNoBuild(reply: FastifyReply): FastifyReply {
  return sendPage(reply.code(503), {
    title: "The dashboard is not built",
    main: html`<p>
      The API works. The dashboard's files for the browser are missing: run <code>npm run build</code> where Daybook is
      installed, and start Daybook again.
    </p>`,
  });
}
