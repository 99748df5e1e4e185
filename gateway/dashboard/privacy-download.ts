/**
 * The stream of an access request, for a browser: a file that it saves while it reads. The app asks by PrepareDownload
 * first, where a refusal can be shown and a password be asked for; here everything is checked again. The stream leaves
 * the audit entry, before its first byte.
 */
import type { FastifyInstance } from "fastify";
import { callOptions } from "#shared/rpc/interceptors.ts";
import { callOf } from "./calls.ts";
import type { DashboardContext } from "./context.ts";
import { missingRight, noSuchProperty, signInAgain, signInRequired } from "./refusal.ts";
import { checkSameOrigin } from "./same-origin.ts";
import { isFresh, rightsIn } from "./sessions.ts";

const right = "privacy:export";

export function downloadPath(propertyId: string, privacyRequestId: string): string {
  return `/dashboard/${propertyId}/privacy-requests/${privacyRequestId}/download`;
}

export function downloadRoute(app: FastifyInstance, context: DashboardContext): void {
  app.get<{ Params: { property: string; id: string } }>(
    downloadPath(":property", ":id"),
    {
      config: { isStream: true },
      exposeHeadRoute: false,
      onRequest: async (request, reply) => {
        checkSameOrigin(request);
        await context.entrance.enter(request, reply);
      },
    },
    async (request, reply) => {
      const { property: propertyId, id } = request.params;
      // Not a remembered one: what is sensitive is decided by the roles of now.
      const viewer = await context.sessions.find(context.entrance.visitOf(request).token, 0);
      if (!viewer) throw signInRequired();
      const rights = rightsIn(viewer, propertyId);
      if (!rights) throw noSuchProperty();
      if (!rights.has(right)) throw missingRight(right);
      if (!isFresh(viewer)) throw signInAgain();
      const options = callOptions(callOf(request, viewer), context.callTimeoutMs);
      const { id: memberId, email: memberEmail } = viewer.member;
      const reader = { memberId, memberEmail };
      void reply.headers({ "cache-control": "no-store", "cross-origin-resource-policy": "same-origin" });
      return context.exports.send({ request, reply, services: context.bindServices(options), propertyId, reader }, id);
    },
  );
}
