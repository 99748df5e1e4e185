/** The way to the issuer and back. What the browser keeps meanwhile is sealed in a cookie of ten minutes. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { callOptions } from "#shared/rpc/interceptors.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { Cursors } from "../../cursor.ts";
import { callOf } from "../calls.ts";
import type { DashboardContext } from "../context.ts";
import { nowSeconds, pendingSecondsMax, type Issuer, type Pending } from "../issuer.ts";
import { readCookie, setCookie } from "../place.ts";
import { refuseUnsafePlace, safeNext, signInBrowser, takeRefusal, visitorOf } from "./forms.ts";
import { showSignIn } from "./sign-in.ts";

const cookie = "daybook-issuer";
const seal = ["dashboard", "issuer"];
const callbackPath = "/dashboard/sign-in/callback";

export function issuerPages(app: FastifyInstance, context: DashboardContext, issuer: Issuer): void {
  app.get<{ Querystring: { next?: string | string[]; fresh?: string } }>(
    "/dashboard/sign-in/issuer",
    async (request, reply) => {
      const refused = refuseUnsafePlace(request, reply);
      if (refused) return refused;
      app.takeGuess(request, reply);
      const { next, fresh } = request.query;
      const wanted = { next: safeNext([next].flat()[0] ?? ""), isFresh: fresh === "true" };
      const { url, pending } = await issuer.begin(redirectUriOf(request), wanted);
      const value = context.cursors.write(seal, JSON.stringify(pending));
      setCookie(request, reply, { name: cookie, value, ageSeconds: pendingSecondsMax });
      return reply.header("cache-control", "no-store").redirect(url.href, 303);
    },
  );

  app.get(callbackPath, async (request, reply) => {
    const refused = refuseUnsafePlace(request, reply);
    if (refused) return refused;
    app.takeGuess(request, reply);
    const pending = readPending(context.cursors, readCookie(request, cookie));
    // A code is good once, so whatever comes of it the way begins anew.
    setCookie(request, reply, { name: cookie, value: "", ageSeconds: 0 });
    return comeBack(context, issuer, request, reply, pending);
  });
}

async function comeBack(
  context: DashboardContext,
  issuer: Issuer,
  request: FastifyRequest,
  reply: FastifyReply,
  pending: Pending | undefined,
): Promise<FastifyReply> {
  try {
    if (!pending) {
      throw new DaybookError("unknown_member", "This sign-in took too long, or began in another browser. Try again.");
    }
    const search = new URL(request.url, "http://origin.invalid").search;
    const vouched = await issuer.finish(new URL(redirectUriOf(request) + search), pending);
    const signedIn = await context.clients.members.signInByIssuer(
      { ...vouched, visitor: visitorOf(request) },
      callOptions(callOf(request)),
    );
    return await signInBrowser(context, request, reply, { ...signedIn, next: pending.next });
  } catch (error) {
    const faults = takeRefusal(error, reply, () => "");
    return showSignIn(context, reply, { email: "", next: pending?.next ?? safeNext("") }, faults);
  }
}

function redirectUriOf({ publicOrigin }: FastifyRequest): string {
  return publicOrigin + callbackPath;
}

function readPending(cursors: Cursors, value: string | undefined): Pending | undefined {
  try {
    const pending = JSON.parse(cursors.read(seal, value ?? "")) as Pending;
    return nowSeconds() - pending.begunAt <= pendingSecondsMax ? pending : undefined;
  } catch {
    return undefined;
  }
}
