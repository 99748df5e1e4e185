/** HTML as text in which nothing that is put in can be taken for markup. */

/** Markup, made by `html` alone. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template: texts are escaped, markup is not, lists are joined, and what is absent leaves nothing. */
export type Part = Html | string | number | false | undefined | readonly Part[];

/** Makes markup of a template. Of the space by which the template itself is indented nothing remains. */
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

/** The little Markdown that descriptions have: paragraphs, and code between backticks. */
export function prose(markdown: string): Html {
  return html`${markdown.split(/\n{2,}/).map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`;
}

/** The same within a line. */
export function inline(markdown: string): Html {
  // Every other part stands between backticks.
  return html`${markdown.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
