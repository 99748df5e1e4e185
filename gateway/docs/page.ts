/** The page of the API, made from its OpenAPI document: one document of HTML, without a script. */
import { errorCatalogue } from "#shared/errors.ts";
import { resolverOf, type OpenApiDocument } from "./document.ts";
import { html, prose, type Html } from "./html.ts";
import { renderOperation, type PlacedOperation } from "./operation.ts";
import { renderFields } from "./schema.ts";

/** Where the stylesheet is. */
export const stylePath = "/docs/style.css";

/** @param origin of this Daybook, for the lines of curl. */
export function renderPage(document: OpenApiDocument, origin: string): string {
  const { info, tags } = document;
  const resolve = resolverOf(document);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): PlacedOperation => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
  const sections = tags.map(({ name }) => ({
    name,
    id: `tag-${name.toLowerCase()}`,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const errorFields = document.components.schemas.ErrorBody;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${info.title} API</title>
        <link rel="stylesheet" href="${stylePath}" />
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <h1>${info.title} API</h1>
          <p>Version ${info.version} · <a href="/openapi.json">openapi.json</a></p>
        </header>
        <nav aria-label="Contents">
          <ul>
            <li><a href="#start">How to begin</a></li>
            ${sections.map(
              ({ name, id, operations: some }) =>
                html`<li>
                  <a href="#${id}">${name}</a>
                  <ul>
                    ${some.map(
                      ({ method, operation }) =>
                        html`<li>
                          <a href="#${operation.operationId}"
                            ><b class="method ${method.toLowerCase()}">${method}</b> ${operation.summary}</a
                          >
                        </li>`,
                    )}
                  </ul>
                </li>`,
            )}
            <li><a href="#errors">Errors</a></li>
          </ul>
        </nav>
        <main id="content" tabindex="-1">
          <section id="start" aria-labelledby="start-title">
            <h2 id="start-title">How to begin</h2>
            ${renderStart(origin)} ${prose(info.description)}
          </section>
          ${sections.map(
            ({ name, id, operations: some }) =>
              html`<section id="${id}" aria-labelledby="${id}-title">
                <h2 id="${id}-title">${name}</h2>
                ${some.map((placed) => renderOperation(placed, origin, resolve))}
              </section>`,
          )}
          <section id="errors" aria-labelledby="errors-title">
            <h2 id="errors-title">Errors</h2>
            <p>Every error has one form. Its code is one of those below.</p>
            ${errorFields && renderFields(errorFields.properties?.error ?? {}, resolve, "answered")} ${renderCodes()}
          </section>
        </main>
      </body>
    </html>`.text;
}

function renderStart(origin: string): Html {
  const lines = `export DAYBOOK_KEY=sk_test_…\ncurl -sS '${origin}/v1/account' -H "Authorization: Bearer $DAYBOOK_KEY"`;
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
          <th scope="col">May be repeated</th>
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
