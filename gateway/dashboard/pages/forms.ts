/** What the forms of the pages have in common: reading, refusals, and what follows a sign-in. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Member } from "#proto/daybook/identity/v1/members_pb.ts";
import { callOptions } from "#shared/rpc/interceptors.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { html } from "../../docs/html.ts";
import type { SignInAction } from "../audit.ts";
import { callOf } from "../calls.ts";
import type { DashboardContext } from "../context.ts";
import { sessionCookie } from "../entrance.ts";
import { placeOf, setCookie } from "../place.ts";
import { consentPath } from "../../oauth/paths.ts";
import { sendPage, type Faults } from "./layout.ts";

export const formBytesMax = 16 * 1024;
const formType = "application/x-www-form-urlencoded";
const userAgentLengthMax = 255;
// The service ends a session after this time.
const sessionSeconds = 7 * 24 * 60 * 60;
export const home = "/dashboard/";

/** Forms are the only bodies of the pages. */
export function parseForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(formType, { parseAs: "string" }, async (_request: FastifyRequest, body: string) => body);
}

/** The fields of a form, trimmed but for passwords; empty texts for those that were not sent. */
export function readForm(request: FastifyRequest): (name: string) => string {
  const form = new URLSearchParams(typeof request.body === "string" ? request.body : "");
  return (name) => {
    const text = form.get(name) ?? "";
    return name === "password" ? text : text.trim();
  };
}

export function visitorOf(request: FastifyRequest): { address: string; userAgent: string } {
  return { address: request.ip, userAgent: (request.headers["user-agent"] ?? "").slice(0, userAgentLengthMax) };
}

/** A path of the dashboard to go on to, or the page of a consent; anything else becomes its first page. */
export function safeNext(next: string): string {
  if (next.startsWith(consentPath) && /^[\w-]{1,64}$/.test(next.slice(consentPath.length))) return next;
  if (!/^\/dashboard\/[\x21-\x7e]{0,2000}$/.test(next) || next.includes("\\")) return home;
  const url = URL.parse(next, "http://origin.invalid");
  if (!url || url.origin !== "http://origin.invalid" || !url.pathname.startsWith(home)) return home;
  return url.pathname + url.search + url.hash;
}

/** Begins a session in the browser, and leaves an audit entry of it. */
export async function signInBrowser(
  { audit, clients, entrance, sessions }: DashboardContext,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    member,
    token,
    next,
    action = "sign_in",
  }: { member?: Member | undefined; token: string; next: string; action?: SignInAction },
): Promise<FastifyReply> {
  if (!member) throw new Error("identity answered without a member");
  await audit.recordSignIn(request, member, action);
  // A browser has one session: what it had before is not left open.
  const before = await entrance.find(request, reply).catch(() => undefined);
  if (before) {
    const { member: owner, session } = before.viewer;
    const ending = { memberId: owner.id, which: { case: "sessionId", value: session.id } } as const;
    await clients.members.endSession(ending, callOptions(callOf(request)));
    sessions.forget(before.token);
  }
  setCookie(request, reply, { name: sessionCookie, value: token, ageSeconds: sessionSeconds });
  return reply.redirect(safeNext(next), 303);
}

/**
 * What a refused form shows at which field, with the status and headers of the answer. Other errors are thrown.
 * @param fieldOf the field at fault; "" for the whole form.
 */
export function takeRefusal(error: unknown, reply: FastifyReply, fieldOf: (error: DaybookError) => string): Faults {
  if (!(error instanceof DaybookError) || error.status >= 500) throw error;
  void reply.code(error.status);
  const { retryAfterMs } = error;
  if (retryAfterMs === null) {
    const faults = error.errors.length > 0 ? error.errors : [error];
    return new Map(
      faults.map(({ message, param }) => [param === null ? fieldOf(error) : toField(param), capitalized(message)]),
    );
  }
  const seconds = Math.ceil(retryAfterMs / 1000);
  void reply.header("retry-after", seconds);
  return new Map([["", `There were too many attempts. Try again in ${inWords(seconds)}.`]]);
}

/** The services name fields in code; a form has labels. */
function capitalized(message: string): string {
  const plain = message.replaceAll("`", "");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

function toField(param: string): string {
  return param === "token_hash" ? "link" : param;
}

function inWords(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? "1 second" : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}

/** Where no cookie is safe there is no sign-in. @returns undefined where one is. */
export function refuseUnsafePlace(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  const { kind, origin } = placeOf(request);
  if (kind !== "unsafe") return undefined;
  const secure = origin.replace(/^http:/, "https:");
  return sendPage(reply.code(403), {
    title: "Open the dashboard over https",
    main: html`<p>
        This page came over plain HTTP, as <code>${origin}</code>. Everybody on the way could read your password and use
        your session, so there is no sign-in here.
      </p>
      <p>
        If Daybook has https, <a href="${secure}/dashboard/">open it over https</a>. If a proxy ends https before
        Daybook, set <code>PUBLIC_URL</code> to the address that people see, or name the proxy in
        <code>TRUSTED_PROXIES</code>. On the computer that Daybook runs on, <code>http://localhost</code> works too.
      </p>`,
  });
}
