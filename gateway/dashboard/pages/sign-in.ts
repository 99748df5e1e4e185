/** The sign-in page: email and password, or an issuer. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { callOptions } from "#shared/rpc/interceptors.ts";
import { html } from "../../docs/html.ts";
import { callOf } from "../calls.ts";
import type { DashboardContext } from "../context.ts";
import { consentPath } from "../../oauth/paths.ts";
import { checkSameOrigin } from "../same-origin.ts";
import { formBytesMax, readForm, refuseUnsafePlace, safeNext, signInBrowser, takeRefusal, visitorOf } from "./forms.ts";
import { renderForm, sendPage, type Faults } from "./layout.ts";

const path = "/dashboard/sign-in";
const noFaults: Faults = new Map();

export function signInPage(app: FastifyInstance, context: DashboardContext): void {
  app.get<{ Querystring: { next?: string | string[]; fresh?: string } }>(path, async (request, reply) => {
    const refused = refuseUnsafePlace(request, reply);
    if (refused) return refused;
    const next = safeNext([request.query.next].flat()[0] ?? "");
    // Somebody whose sign-in is too old for a sensitive act signs in again.
    const isFresh = request.query.fresh === "true";
    if (!isFresh && (await context.entrance.find(request, reply))) return reply.redirect(next, 303);
    return showSignIn(context, reply, { email: "", next }, noFaults);
  });

  app.post(path, {
    bodyLimit: formBytesMax,
    onRequest: async (request) => checkSameOrigin(request),
    handler: async (request, reply) => refuseUnsafePlace(request, reply) ?? signIn(context, request, reply),
  });
}

async function signIn(context: DashboardContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const field = readForm(request);
  const [email, password, next] = [field("email"), field("password"), safeNext(field("next"))];
  try {
    const signedIn = await context.clients.members.signIn(
      { email, password, visitor: visitorOf(request) },
      callOptions(callOf(request)),
    );
    return await signInBrowser(context, request, reply, { ...signedIn, next });
  } catch (error) {
    const faults = takeRefusal(error, reply, () => "password");
    return showSignIn(context, reply, { email, next }, faults);
  }
}

/** Shows the page. */
export function showSignIn(
  { issuer }: DashboardContext,
  reply: FastifyReply,
  { email, next }: { email: string; next: string },
  faults: Faults,
): FastifyReply {
  // Who consents to an app must have just signed in, also at the issuer.
  const query = new URLSearchParams({ next, ...(next.startsWith(consentPath) ? { fresh: "true" } : {}) }).toString();
  return sendPage(reply, {
    title: "Sign in",
    main: html`${
        issuer &&
        html`<a class="button other" href="/dashboard/sign-in/issuer?${query}">Sign in with ${issuer.host}</a>`
      }
      ${renderForm({
        action: path,
        hidden: { next },
        faults,
        button: "Sign in",
        fields: [
          { name: "email", label: "Email", type: "email", autocomplete: "username", value: email, lengthMax: 255 },
          { name: "password", label: "Password", type: "password", autocomplete: "current-password", lengthMax: 512 },
        ],
      })}
      <p class="note">
        Lost your password? Ask an admin for a new invitation. The first member opens the link that Daybook printed when
        it started.
      </p>`,
  });
}
