/**
 * The pages of links: setup for the first member, and invitations. A link has its token behind the #, where only the
 * browser sees it. The first form sends it, and the second one asks for what the account needs.
 */
import { hash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { GetLinkResponse } from "#proto/daybook/identity/v1/members_pb.ts";
import { callOptions } from "#shared/rpc/interceptors.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { html } from "../../docs/html.ts";
import { callOf } from "../calls.ts";
import type { DashboardContext } from "../context.ts";
import { checkSameOrigin } from "../same-origin.ts";
import { formBytesMax, home, readForm, refuseUnsafePlace, signInBrowser, takeRefusal, visitorOf } from "./forms.ts";
import { renderForm, sendPage, type Faults, type Field } from "./layout.ts";

const kinds = {
  setup: {
    path: "/dashboard/setup",
    title: "Set up Daybook",
    intro: "Daybook printed a link when it started for the first time. Paste it here.",
  },
  invitation: {
    path: "/dashboard/invitation",
    title: "Accept your invitation",
    intro: "An admin gave you a link. Paste it here.",
  },
} as const;
type Kind = (typeof kinds)[keyof typeof kinds];

const passwordLengthMin = 12;
const noFaults: Faults = new Map();

export function linkPages(app: FastifyInstance, context: DashboardContext): void {
  for (const kind of Object.values(kinds)) {
    app.get(
      kind.path,
      async (request, reply) => refuseUnsafePlace(request, reply) ?? askForLink(reply, kind, noFaults),
    );
    app.post(kind.path, {
      bodyLimit: formBytesMax,
      onRequest: async (request, reply) => {
        checkSameOrigin(request);
        // A token cannot be guessed, but looking for one costs a query.
        app.takeGuess(request, reply);
      },
      handler: async (request, reply) => refuseUnsafePlace(request, reply) ?? takeLink(context, request, reply, kind),
    });
  }
}

function askForLink(reply: FastifyReply, { path, title, intro }: Kind, faults: Faults): FastifyReply {
  const field: Field = {
    name: "link",
    label: "Link or code",
    type: "text",
    autocomplete: "off",
    hint: "The whole link, or the code behind its #.",
    lengthMax: 2_048,
  };
  return sendPage(reply, {
    title,
    script: true,
    main: html`<p>${intro}</p>
      ${renderForm({ action: path, fields: [field], faults, button: "Go on" })}`,
  });
}

async function takeLink(
  context: DashboardContext,
  request: FastifyRequest,
  reply: FastifyReply,
  kind: Kind,
): Promise<FastifyReply> {
  const { members } = context.clients;
  const options = callOptions(callOf(request));
  const field = readForm(request);
  // Of a whole link, what stands behind the #.
  const token = field("link").split("#").at(-1) ?? "";
  const tokenHash = hash("sha256", token, "buffer");
  let link: GetLinkResponse;
  try {
    link = await members.getLink({ tokenHash }, options);
  } catch (error) {
    if (!(error instanceof DaybookError) || error.code !== "resource_not_found") throw error;
    const message = "This link is not good any more: it was used, replaced or is too old. Ask for a new one.";
    return askForLink(reply.code(404), kind, new Map([["link", message]]));
  }
  const [email, name, password] = [link.email ?? field("email"), field("name"), field("password")];
  const account = { token, email, name };
  if (password === "") return askForAccount(reply, kind, link, account, noFaults);
  try {
    const accepted = await members.acceptLink(
      {
        tokenHash,
        email,
        password,
        visitor: visitorOf(request),
        ...(link.isKnown ? {} : { name }),
      },
      options,
    );
    const action = link.isKnown ? "password_replaced" : "account_made";
    return await signInBrowser(context, request, reply, { ...accepted, next: home, action });
  } catch (error) {
    return askForAccount(
      reply,
      kind,
      link,
      account,
      takeRefusal(error, reply, () => ""),
    );
  }
}

function askForAccount(
  reply: FastifyReply,
  { path, title }: Kind,
  link: GetLinkResponse,
  { token, email, name }: { token: string; email: string; name: string },
  faults: Faults,
): FastifyReply {
  const isGiven = link.email !== undefined;
  const fields: Field[] = [
    {
      name: "email",
      label: "Email",
      type: "email",
      autocomplete: "username",
      value: email,
      lengthMax: 255,
      isReadOnly: isGiven,
    },
    ...(link.isKnown
      ? []
      : [
          {
            name: "name",
            label: "Your name",
            type: "text",
            autocomplete: "name",
            value: name,
            lengthMax: 255,
          } as const,
        ]),
    {
      name: "password",
      label: link.isKnown ? "New password" : "Password",
      type: "password",
      autocomplete: "new-password",
      hint: `At least ${passwordLengthMin} characters. Several words are good; a password manager is better.`,
      lengthMin: passwordLengthMin,
      lengthMax: 256,
    },
  ];
  return sendPage(reply, {
    title: link.isKnown ? "Choose a new password" : title,
    main: renderForm({
      action: path,
      hidden: { link: token },
      fields,
      faults,
      button: link.isKnown ? "Set the password and sign in" : "Make the account and sign in",
    }),
  });
}
