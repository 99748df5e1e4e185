/** What the page of a consent shows. */
import type { FastifyReply } from "fastify";
import type { App } from "#proto/daybook/identity/v1/apps_pb.ts";
import { html, type Html } from "../docs/html.ts";
import { sendPage } from "../dashboard/pages/layout.ts";
import { scopesInWords, type ScopeInWords } from "./scope-words.ts";

/** A property that can be chosen. */
export interface Choice {
  id: string;
  name: string;
  isLive: boolean;
  /** The app has access already, which a new consent replaces. */
  isInstalled: boolean;
}

export function renderConsent(
  reply: FastifyReply,
  page: {
    action: string;
    app: App;
    scopes: readonly string[];
    redirectUri: string;
    /** Of who is signed in. */
    email: string;
    choices: readonly Choice[];
    token: string;
    fault: string | undefined;
  },
): FastifyReply {
  const { action, app, scopes, redirectUri, email, choices, token, fault } = page;
  const asked = scopesInWords.filter(({ scope }) => scopes.includes(scope));
  const { host, origin, protocol } = new URL(redirectUri);
  return sendPage(reply, {
    title: `Connect ${app.name}`,
    // A policy cannot name an IPv6 address; loopback has one.
    formTarget: host.startsWith("[") ? protocol : origin,
    main: html` ${app.description !== "" && html`<p>${app.description}</p>`}
      <p class="note first">
        You are signed in as ${email}. The app gets its answer at <code>${host}</code>.
        ${
          app.homepageUrl !== undefined &&
          html`<a href="${app.homepageUrl}" rel="noopener noreferrer nofollow">About ${app.name}</a>`
        }
      </p>
      ${renderScopes(
        "It sees or erases data of single customers:",
        asked.filter(({ isPersonal }) => isPersonal),
      )}
      ${renderScopes(
        "It may:",
        asked.filter(({ isPersonal }) => !isPersonal),
      )}
      <form method="post" action="${action}">
        <input type="hidden" name="token" value="${token}" />
        ${fault !== undefined && html`<p class="alert" role="alert">${fault}</p>`}
        ${choices.length === 0 ? renderNoChoice() : renderChoices(choices)}
        <button class="other" type="submit" name="decision" value="deny" formnovalidate>Deny</button>
      </form>`,
  });
}

function renderScopes(heading: string, scopes: readonly ScopeInWords[]): Html | false {
  return (
    scopes.length > 0 &&
    html`<h2>${heading}</h2>
      <ul class="scopes">
        ${scopes.map(({ scope, words }) => html`<li>${words} <code>${scope}</code></li>`)}
      </ul>`
  );
}

function renderChoices(choices: readonly Choice[]): Html {
  return html`<p class="field">
      <label for="property_id">Property</label>
      <select id="property_id" name="property_id" required>
        ${choices.length > 1 && html`<option value="">Choose one</option>`}
        ${choices.map(({ id, name, isLive, isInstalled }) => {
          const kind = isLive ? "live" : "test";
          return html`<option value="${id}">
            ${name} (${kind}${isInstalled && ", connected: replaces that access"})
          </option>`;
        })}
      </select>
      <span class="hint">The app gets access to this one property, until somebody of it ends that.</span>
    </p>
    <button type="submit" name="decision" value="allow">Allow</button>`;
}

function renderNoChoice(): Html {
  return html`<p class="alert" role="alert">
    There is no property that you may connect this app to. An admin of a property can, and a developer if the app asks
    for nothing that her own role does not allow.
  </p>`;
}

/** The request is not there any more, or began in another browser. */
export function sendOldRequest(reply: FastifyReply): FastifyReply {
  return sendPage(reply.code(400), {
    title: "This request has ended",
    main: html`<p>
      It took too long, was answered before, or began in another browser. Go back to the app, and connect it again.
    </p>`,
  });
}
