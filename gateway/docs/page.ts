/** The documentation pages: the API, made from its OpenAPI document, and the guides. */
import { errorCatalogue } from "#shared/values/errors.ts";
import { resolverOf, type OpenApiDocument } from "./document.ts";
import type { Guide } from "./guides.ts";
import { html, prose, type Html } from "./html.ts";
import { renderLayout } from "./layout.ts";
import { renderOperation, type PlacedOperation } from "./operation.ts";
import { renderFields } from "./schema.ts";

// The tag that the compatibility surface uses.
const compatibilityTag = "Compatibility";

/** @param origin of this Daybook, for the curl examples. */
export function renderPage(document: OpenApiDocument, guides: readonly Guide[], origin: string): string {
  const { info, tags } = document;
  const resolve = resolverOf(document);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): PlacedOperation => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
  const sections = tags.map(({ name, description }) => ({
    name,
    description,
    id: `tag-${name.toLowerCase().replaceAll(" ", "-")}`,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const errorFields = document.components.schemas.ErrorBody;
  return renderLayout({
    title: `${info.title} API`,
    subtitle: html`Version ${info.version} · <a href="/openapi.json">openapi.json</a>`,
    contents: html`<ul>
      <li><a href="#start">How to begin</a></li>
      ${renderGuideLinks(guides)}
      ${sections.map(
        ({ name, id, operations: some }) =>
          html`<li>
            <a href="#${id}">${name}</a>
            <ul>
              ${some.map((placed) => renderEntry(placed, name === compatibilityTag))}
            </ul>
          </li>`,
      )}
      <li><a href="#errors">Errors</a></li>
    </ul>`,
    main: html`<section id="start" aria-labelledby="start-title">
        <h1 id="start-title">${info.title} API</h1>
        ${renderStart(origin)} ${prose(info.description)}
      </section>
      ${sections.map(
        ({ name, id, description, operations: some }) =>
          html`<section id="${id}" aria-labelledby="${id}-title">
            <h2 id="${id}-title">${name}</h2>
            ${description !== undefined && prose(description)}
            ${some.map((placed) => renderOperation(placed, origin, resolve))}
          </section>`,
      )}
      <section id="errors" aria-labelledby="errors-title">
        <h2 id="errors-title">Errors</h2>
        <p>
          Every error has one form. Its code is one of those below. <a href="/docs/errors">What to do about each</a> is
          a page of its own.
        </p>
        ${errorFields && renderFields(errorFields.properties?.error ?? {}, resolve, "answered")} ${renderCodes()}
      </section>`,
  });
}

export function renderGuidePage(guide: Guide, guides: readonly Guide[]): string {
  return renderLayout({
    title: `${guide.title} · Daybook API`,
    subtitle: html`<a href="/docs">All operations</a> · <a href="/openapi.json">openapi.json</a>`,
    contents: html`<ul>
      ${renderGuideLinks(guides, guide.path)}
      <li>
        On this page
        <ul>
          ${guide.headings.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}
        </ul>
      </li>
    </ul>`,
    main: html`<article class="guide">${guide.content}</article>`,
  });
}

/** @param current the path of the current page, if it is a guide. */
function renderGuideLinks(guides: readonly Guide[], current?: string): Html {
  return html`<li>
    Guides
    <ul>
      ${guides.map(({ path, title }) => {
        const mark = path === current && html`aria-current="page"`;
        return html`<li><a href="${path}" ${mark}>${title}</a></li>`;
      })}
    </ul>
  </li>`;
}

/** An entry in the contents. Compatibility operations show paths: their summaries repeat the native ones. */
function renderEntry({ method, path, operation }: PlacedOperation, byPath: boolean): Html {
  const [text, find] = byPath ? [path.replace("/api", ""), operation.summary] : [operation.summary, path];
  return html`<li>
    <a class="entry" href="#${operation.operationId}" data-find="${find}"
      ><b class="method ${method.toLowerCase()}">${method}</b> ${text}</a
    >
  </li>`;
}

function renderStart(origin: string): Html {
  const call = `curl -sS '${origin}/v1/account' -H "Authorization: Bearer $DAYBOOK_KEY"`;
  const lines = `export DAYBOOK_KEY=sk_test_…\n${call}`;
  return html`<p>
      The API is at <code>${origin}</code>. Every request carries a key of yours as a bearer token. Put it into the
      environment of your shell, and the lines of curl on this page can be pasted as they are; ids in them are to be
      replaced by your own.
    </p>
    <pre tabindex="0" role="region" aria-label="The first call"><code>${lines}</code></pre>`;
}

function renderCodes(): Html {
  return html`<div class="wide" tabindex="0" role="region" aria-label="Error codes">
    <table>
      <thead>
        <tr>
          <th scope="col">Code</th>
          <th scope="col">Status</th>
          <th scope="col">Type</th>
          <th scope="col">Retry</th>
        </tr>
      </thead>
      <tbody>
        ${Object.entries(errorCatalogue).map(
          ([code, entry]) =>
            html`<tr id="error-${code}">
              <th scope="row"><code>${code}</code></th>
              <td>${entry.status}</td>
              <td><code>${entry.type}</code></td>
              <td>${"retryable" in entry ? "yes" : "no"}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
