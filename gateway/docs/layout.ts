/** The frame of every documentation page. */
import { html, type Html, type Part } from "./html.ts";

export const stylePath = "/docs/style.css";
/** Pages are complete without this script: it adds search, a mark in the contents, and copy buttons. */
export const scriptPath = "/docs/page.js";

export interface Page {
  title: string;
  subtitle: Html;
  contents: Html;
  main: Part;
}

export function renderLayout({ title, subtitle, contents, main }: Page): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="stylesheet" href="${stylePath}" />
        <script src="${scriptPath}" defer></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <p class="title"><a href="/docs">Daybook API</a></p>
          <p>${subtitle}</p>
        </header>
        <nav aria-label="Contents">${contents}</nav>
        <main id="content" tabindex="-1">${main}</main>
      </body>
    </html>`.text;
}
