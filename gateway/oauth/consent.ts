/**
 * The page that asks a member for consent to an app. It works without script. Who consents must have signed in within
 * the last minutes, as for a key: an app that is installed has the same access.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Provider } from "oidc-provider";
import { InstallationStatus, type App } from "#proto/daybook/identity/v1/apps_pb.ts";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { callOptions } from "#shared/rpc/interceptors.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { callOf } from "../dashboard/calls.ts";
import type { DashboardContext } from "../dashboard/context.ts";
import type { Visit } from "../dashboard/entrance.ts";
import { scopeNotToGive } from "../dashboard/keys.ts";
import { propertiesOf } from "../dashboard/own-methods.ts";
import { formBytesMax, readForm, refuseUnsafePlace } from "../dashboard/pages/forms.ts";
import { renderConsent, sendOldRequest, type Choice } from "./consent-page.ts";
import { checkSameOrigin } from "../dashboard/same-origin.ts";
import { isFresh, rightsIn } from "../dashboard/sessions.ts";
import { errors } from "./library.ts";
import { consentPath } from "./paths.ts";

/** What an app asks for, and who is asked. */
interface Question {
  uid: string;
  app: App;
  scopes: string[];
  redirectUri: string;
  visit: Visit;
}

const path = `${consentPath}:uid`;
const installRight = "apps:manage";
const installationsMax = 500;

export function consentPages(app: FastifyInstance, context: DashboardContext, provider: Provider): void {
  app.get<{ Params: { uid: string } }>(path, async (request, reply) => {
    const question = await ask(context, provider, request, reply);
    return "uid" in question ? show(context, request, reply, question) : question;
  });

  app.post<{ Params: { uid: string } }>(path, {
    bodyLimit: formBytesMax,
    onRequest: async (request) => checkSameOrigin(request),
    handler: async (request, reply) => {
      const question = await ask(context, provider, request, reply);
      return "uid" in question ? answer(context, provider, request, reply, question) : question;
    },
  });
}

/** @returns the answer instead, where there is nothing to ask, or nobody. */
async function ask(
  context: DashboardContext,
  provider: Provider,
  request: FastifyRequest<{ Params: { uid: string } }>,
  reply: FastifyReply,
): Promise<Question | FastifyReply> {
  const refused = refuseUnsafePlace(request, reply);
  if (refused) return refused;
  const { uid } = request.params;
  const interaction = await provider.interactionDetails(request.raw, reply.raw).catch((error: unknown) => {
    if (error instanceof errors.SessionNotFound) return undefined;
    throw error;
  });
  if (interaction?.uid !== uid) return sendOldRequest(reply);
  const visit = await context.entrance.find(request, reply);
  if (!visit || !isFresh(visit.viewer)) {
    const next = new URLSearchParams({ next: consentPath + uid, fresh: "true" }).toString();
    return reply.header("cache-control", "no-store").redirect(`/dashboard/sign-in?${next}`, 303);
  }
  const { client_id: appId, scope, redirect_uri: redirectUri } = interaction.params as Record<string, string>;
  const options = callOptions(callOf(request, visit.viewer));
  const { app } = await context.clients.oauth.findClient({ appId: appId ?? "" }, options);
  if (!app) throw new Error("identity answered without an app");
  return { uid, app, scopes: (scope ?? "").split(" "), redirectUri: redirectUri ?? "", visit };
}

/** The properties where a member may install an app with these scopes. */
async function choicesOf(
  { clients }: DashboardContext,
  request: FastifyRequest,
  { app, scopes, visit: { viewer } }: Question,
): Promise<Choice[]> {
  const options = callOptions(callOf(request, viewer));
  const [properties, { installations }] = await Promise.all([
    propertiesOf(clients, viewer, options),
    clients.apps.listInstallations({ appId: app.id, limit: installationsMax }, options),
  ]);
  const installed = new Set(
    installations.filter(({ status }) => status === InstallationStatus.ACTIVE).map(({ propertyId }) => propertyId),
  );
  return properties
    .filter(({ id }) => mayInstall(scopes, rightsIn(viewer, id)))
    .map(({ id, name, mode }) => ({ id, name, isLive: mode === Mode.LIVE, isInstalled: installed.has(id) }));
}

function mayInstall(scopes: readonly string[], rights: ReadonlySet<string> | undefined): boolean {
  return rights !== undefined && rights.has(installRight) && scopeNotToGive(scopes, rights) === undefined;
}

async function show(
  context: DashboardContext,
  request: FastifyRequest,
  reply: FastifyReply,
  question: Question,
  fault?: string,
): Promise<FastifyReply> {
  const { uid, app, scopes, redirectUri, visit } = question;
  const choices = await choicesOf(context, request, question);
  const token = context.cursors.write(sealOf(question), "");
  const { email } = visit.viewer.member;
  return renderConsent(reply, { action: consentPath + uid, app, scopes, redirectUri, email, choices, token, fault });
}

/** A form is good for its request and its session only. */
function sealOf({ uid, visit }: Question): string[] {
  return ["oauth", "consent", uid, visit.viewer.session.id];
}

function hasGoodToken({ cursors }: DashboardContext, question: Question, token: string): boolean {
  try {
    cursors.read(sealOf(question), token);
    return true;
  } catch {
    return false;
  }
}

async function answer(
  context: DashboardContext,
  provider: Provider,
  request: FastifyRequest,
  reply: FastifyReply,
  question: Question,
): Promise<FastifyReply> {
  await context.entrance.enter(request, reply);
  const field = readForm(request);
  if (!hasGoodToken(context, question, field("token"))) {
    return show(context, request, reply.code(403), question, "The page was too old. Look at it again, and decide.");
  }
  const finish = async (result: Parameters<Provider["interactionResult"]>[2]): Promise<FastifyReply> => {
    const returnTo = await provider.interactionResult(request.raw, reply.raw, result);
    return reply.header("cache-control", "no-store").redirect(returnTo, 303);
  };
  const decision = field("decision");
  if (decision === "deny") return finish({ error: "access_denied", error_description: "The member did not consent." });
  const propertyId = field("property_id");
  const choices = await choicesOf(context, request, question);
  if (decision !== "allow" || !choices.some(({ id }) => id === propertyId)) {
    return show(context, request, reply.code(422), question, "Choose a property, and then allow or deny.");
  }
  const { member } = question.visit.viewer;
  const grantId = await install(context, request, question, propertyId);
  return finish({ login: { accountId: member.id, remember: false }, consent: { grantId } });
}

/** @returns the grant. Leaves an audit entry, also of a refusal. */
async function install(
  { audit, clients }: DashboardContext,
  request: FastifyRequest,
  { app, scopes, visit: { viewer } }: Question,
  propertyId: string,
): Promise<string> {
  const consent = { appId: app.id, propertyId, scopes, memberId: viewer.member.id };
  const record = (targetIds: string[], succeeded: boolean) =>
    audit.recordInstall(request, viewer.member, { propertyId, targetIds, succeeded });
  try {
    const { installation, grantId } = await clients.oauth.installApp(consent, callOptions(callOf(request, viewer)));
    if (!installation) throw new Error("identity answered without an installation");
    await record([app.id, installation.id], true);
    return grantId;
  } catch (error) {
    if (error instanceof DaybookError) await record([app.id], false);
    throw error;
  }
}
