/** HTML templates that escape every text put into them. */

/** Markup that needs no escaping; `html` makes it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value in a template: texts are escaped, lists are joined, and undefined and false are left out. */
export type Part = Html | string | number | false | undefined | readonly Part[];

/** Makes markup of a template, without the indentation of the template itself. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const markup = strings.map((string) => string.replaceAll(/\s*\n\s*/g, "\n"));
  return new Html(markup.reduce((text, string, index) => text + toText(parts[index - 1]) + string));
}

function toText(part: Part): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(toText).join("");
  return String(part).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Renders the Markdown of descriptions: paragraphs, and code between backticks. */
export function prose(markdown: string): Html {
  return html`${markdown.split(/\n{2,}/).map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`;
}

/** Like prose, for a single line. */
export function inline(markdown: string): Html {
  // Odd parts stood between backticks.
  return html`${markdown.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
