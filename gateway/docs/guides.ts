/** The guides: documents of the repository for users of the API, rendered as pages. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Marked, type Tokens } from "marked";
import { Html, html } from "./html.ts";

export interface Guide {
  path: string;
  title: string;
  /** Second-level headings. */
  headings: readonly { id: string; text: string }[];
  content: Html;
}

const root = join(import.meta.dirname, "../..");

/** Files by page name under `/docs`, in the order of the contents. */
const files = {
  keys: "docs/reference/keys.md",
  apps: "docs/reference/apps.md",
  errors: "docs/reference/errors.md",
  "rejected-writes": "docs/reference/rejected-writes.md",
  idempotency: "docs/reference/idempotency.md",
  privacy: "docs/privacy.md",
  redaction: "docs/reference/redaction.md",
  "rate-limits": "docs/reference/rate-limits.md",
  revisions: "docs/reference/revisions.md",
  compatibility: "gateway/compat/COVERAGE.md",
} as const;

const pathOf = (name: string): string => `/docs/${name}`;

/** Paths of the guides, in the order of the contents. */
export const guidePaths: readonly string[] = Object.keys(files).map(pathOf);

export function readGuides(): Guide[] {
  return Object.entries(files).map(([name, file]) => renderGuide(name, readFileSync(join(root, file), "utf8")));
}

function renderGuide(name: string, markdown: string): Guide {
  const marked = new Marked({ gfm: true });
  const headings: { id: string; text: string; depth: number }[] = [];
  marked.use({
    renderer: {
      heading(token: Tokens.Heading): string {
        const text = this.parser.parseInline(token.tokens, this.parser.textRenderer);
        const id = anchorOf(text);
        headings.push({ id, text, depth: token.depth });
        const level = String(token.depth);
        return `<h${level} id="${id}">${this.parser.parseInline(token.tokens)}</h${level}>\n`;
      },
      link(token: Tokens.Link): string {
        return html`<a href="${pageOf(token.href)}">${new Html(this.parser.parseInline(token.tokens))}</a>`.text;
      },
      code(token: Tokens.Code): string {
        return html`<pre tabindex="0" role="region" aria-label="Example"><code>${token.text}</code></pre>`.text;
      },
    },
  });
  // Lets wide tables scroll without the page.
  const content = marked
    .parse(markdown, { async: false })
    .replaceAll("<table>", '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>')
    .replaceAll("</table>", "</table></div>");
  const title = headings.find(({ depth }) => depth === 1)?.text ?? name;
  return {
    path: pathOf(name),
    title,
    headings: headings.filter(({ depth }) => depth === 2),
    content: new Html(content),
  };
}

/** The anchor that GitHub gives a heading, so that links work in both places. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, "")
    .replaceAll(" ", "-");
}

/** The page that a link between documents leads to. */
function pageOf(target: string): string {
  if (/^(?:https?:|#)/.test(target)) return target;
  const [file = "", anchor] = target.split("#");
  const base = file.slice(file.lastIndexOf("/") + 1);
  const found = Object.entries(files).find(([, known]) => known.endsWith(`/${base}`));
  // Targets that are no guides are covered by the API page.
  return found ? `${pathOf(found[0])}${anchor === undefined ? "" : `#${anchor}`}` : "/docs";
}
