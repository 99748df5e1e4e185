/** The frame of the pages that work without script: sign-in, setup, invitation, and what went wrong. */
import type { FastifyReply } from "fastify";
import { html, type Html, type Part } from "../../docs/html.ts";
import { pageHeaders } from "../policy.ts";

export const stylePath = "/dashboard/pages/style.css";
export const scriptPath = "/dashboard/pages/link.js";

export interface Page {
  title: string;
  main: Part;
  /** Takes the token of a link out of the address. */
  script?: boolean;
  /** An origin that its form leads to in the end, if it is another site. */
  formTarget?: string | undefined;
}

/** Sends a page. */
export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  const { headers, text } = renderPage(page);
  return reply.headers(headers).send(text);
}

/** A page as markup. Forms need an Origin, which browsers send as `null` without any referrer. */
export function renderPage({ title, main, script = false, formTarget }: Page): {
  headers: Record<string, string>;
  text: string;
} {
  const headers = { ...pageHeaders("same-origin", formTarget), "content-type": "text/html; charset=utf-8" };
  const { text } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title} – Daybook</title>
        <link rel="stylesheet" href="${stylePath}" />
        ${script && html`<script src="${scriptPath}" defer></script>`}
      </head>
      <body>
        <main>
          <p class="brand">Daybook</p>
          <h1>${title}</h1>
          ${main}
        </main>
      </body>
    </html>`;
  return { headers, text };
}

export interface Field {
  name: string;
  label: string;
  type: "email" | "password" | "text";
  autocomplete: string;
  /** What was typed; never a password. */
  value?: string | undefined;
  hint?: string;
  lengthMin?: number;
  lengthMax: number;
  isReadOnly?: boolean;
}

/** What is wrong, by the name of a field; under "" what is wrong with the whole form. */
export type Faults = ReadonlyMap<string, string>;

/** A field with its label. The first one at fault, or else the first one that is empty, gets the focus. */
export function renderField(field: Field, faults: Faults, hasFocus: boolean): Html {
  const { name, label, type, autocomplete, value, hint, lengthMin, lengthMax, isReadOnly = false } = field;
  const fault = faults.get(name);
  const described = [hint !== undefined && `${name}-hint`, fault !== undefined && `${name}-fault`].filter(Boolean);
  return html`<p class="field">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      autocomplete="${autocomplete}"
      autocapitalize="none"
      spellcheck="false"
      maxlength="${lengthMax}"
      required
      ${lengthMin !== undefined && html`minlength="${lengthMin}"`}
      ${isReadOnly && html`readonly`}
      ${value !== undefined && html`value="${value}"`}
      ${described.length > 0 && html`aria-describedby="${described.join(" ")}"`}
      ${fault !== undefined && html`aria-invalid="true"`}
      ${hasFocus && html`autofocus`}
    />
    ${hint !== undefined && html`<span class="hint" id="${name}-hint">${hint}</span>`}
    ${fault !== undefined && html`<span class="fault" id="${name}-fault">${fault}</span>`}
  </p>`;
}

/** A form of fields. */
export function renderForm(form: {
  action: string;
  fields: readonly Field[];
  /** Sent without being shown. */
  hidden?: Readonly<Record<string, string>>;
  faults: Faults;
  button: string;
}): Html {
  const { action, fields, hidden = {}, faults, button } = form;
  const whole = faults.get("");
  const focused = (fields.find(({ name }) => faults.has(name)) ?? fields.find(({ value }) => !value) ?? fields[0])
    ?.name;
  return html`<form method="post" action="${action}">
    ${whole !== undefined && html`<p class="alert" role="alert">${whole}</p>`}
    ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${fields.map((field) => renderField(field, faults, field.name === focused))}
    <button type="submit">${button}</button>
  </form>`;
}
