/** What every page of the documentation has around its content. */
import { html, type Html, type Part } from "./html.ts";

/** Where the stylesheet is. */
export const stylePath = "/docs/style.css";
/** Where the script is. Pages are complete without it: it adds a search, marks the place in the contents, and copies examples. */
export const scriptPath = "/docs/page.js";

/** A page: its title, the contents beside it, and what it says. */
export interface Page {
  title: string;
  /** One line below the title of every page. */
  subtitle: Html;
  contents: Html;
  main: Part;
}

/** The whole document, as text. */
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
