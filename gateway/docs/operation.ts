/** An operation on the page: its parameters, body, answers, errors and curl examples. */
import { errorCatalogue } from "#shared/values/errors.ts";
import { curlLine } from "./curl.ts";
import type { Content, DocumentedOperation, Parameter, Resolve, Response, Schema } from "./document.ts";
import { html, inline, prose, type Html } from "./html.ts";
import { renderField, renderFields, typeText } from "./schema.ts";

export interface PlacedOperation {
  /** In upper case. */
  method: string;
  path: string;
  operation: DocumentedOperation;
}

/** @param origin of this Daybook, such as `https://daybook.example.com`. */
export function renderOperation(placed: PlacedOperation, origin: string, resolve: Resolve): Html {
  const { method, path, operation } = placed;
  const { operationId: id, summary, description = "", requestBody } = operation;
  const answers = Object.entries(operation.responses);
  const successes = answers.filter(([status]) => Number(status) < 300);
  return html`<article id="${id}" aria-labelledby="${id}-title">
    <h3 id="${id}-title"><a href="#${id}">${summary}</a></h3>
    <p class="route"><b class="method ${method.toLowerCase()}">${method}</b> <code>${breakable(path)}</code></p>
    <div class="columns">
      <div>
        ${prose(description)} ${renderParameters(operation.parameters, resolve)}
        ${requestBody && renderBody(requestBody.content, resolve)} ${renderAnswers(successes, resolve)}
        ${renderErrors(answers.filter(([status]) => Number(status) >= 400))}
      </div>
      <div class="samples">${renderCurl(placed, origin)} ${renderAnswerExample(successes)}</div>
    </div>
  </article>`;
}

/** Allows line breaks after slashes. */
function breakable(path: string): Html {
  return html`${path.split("/").map((part, index) => (index === 0 ? part : html`/<wbr />${part}`))}`;
}

function renderParameters(parameters: readonly Parameter[], resolve: Resolve): Html | false {
  const places = ["path", "query", "header"];
  return (
    parameters.length > 0 &&
    html`<h4>Parameters</h4>
      ${places.map((place) => {
        const inPlace = parameters.filter((parameter) => parameter.in === place);
        return inPlace.length > 0 && renderParametersOf(place, inPlace, resolve);
      })}`
  );
}

function renderParametersOf(place: string, parameters: readonly Parameter[], resolve: Resolve): Html {
  // Every operation has the same headers, so they are folded.
  const isOpen = place !== "header" && parameters.length <= 4;
  return html`<details ${isOpen && html`open`}>
    <summary>
      In the ${place}:
      ${parameters
        .map(({ name }) => name)
        .slice(0, 3)
        .join(", ")}${parameters.length > 3 && ` and ${parameters.length - 3} more`}
    </summary>
    <dl class="fields">
      ${parameters.map(({ name, required = false, description, example, schema }) => {
        const described: Schema = description === undefined ? schema : { ...schema, description };
        const shown = example !== undefined && html`<p>For example <code>${String(example)}</code></p>`;
        return renderField(name, described, resolve, { side: "sent", isRequired: required, more: shown || undefined });
      })}
    </dl>
  </details>`;
}

function jsonOf(content: Content | undefined): Content[string] | undefined {
  return content?.["application/json"] ?? content?.["application/vnd.api+json"];
}

function renderBody(content: Content, resolve: Resolve): Html | false {
  const schema = jsonOf(content)?.schema;
  if (!schema) return false;
  const forms = schema.anyOf ?? [schema];
  return html`<h4>Body</h4>
    ${forms.map((form) => {
      const { title, description } = resolve(form);
      return html`${forms.length > 1 && html`<h5>${title}</h5>`}
      ${description !== undefined && html`<p>${inline(description)}</p>`}${renderFields(form, resolve, "sent")}`;
    })}`;
}

function renderCurl({ method, path, operation }: PlacedOperation, origin: string): Html {
  const examples = Object.values(jsonOf(operation.requestBody?.content)?.examples ?? {});
  const lines =
    examples.length > 0
      ? examples.map(({ summary, value }): [string, string] => [
          summary,
          curlLine(origin, method, path, operation, value),
        ])
      : [["Call it", curlLine(origin, method, path, operation)] as const];
  return html`<h4>${lines.length > 1 ? "Examples" : "Example"}</h4>
    ${lines.map(
      ([title, line]) =>
        html`<figure>
          <figcaption>${title}</figcaption>
          <pre class="curl" tabindex="0" role="region" aria-label="curl: ${title}"><code>${line}</code></pre>
        </figure>`,
    )}`;
}

function renderAnswers(answers: readonly (readonly [string, Response])[], resolve: Resolve): Html {
  // Every success of an operation has the same data.
  const data = jsonOf(answers[0]?.[1].content)?.schema.properties?.data;
  const shown = ["ETag", "Location", "Idempotency-Replayed"];
  return html`<h4>Answer</h4>
    <ul class="answers">
      ${answers.map(([status, { description, headers = {} }]) => {
        const own = shown.filter((name) => name in headers);
        return html`<li>
          <span class="status">${status}</span> ${inline(description)}
          ${
            own.length > 0 &&
            html`<span class="limits"
              >with ${own.map((name, index) => html`${index > 0 && ", "}<code>${name}</code>`)}</span
            >`
          }
        </li>`;
      })}
    </ul>
    ${
      data &&
      html`<details>
        <summary>Fields of <code>data</code> <span class="type">${typeText(data, resolve)}</span></summary>
        ${renderFields(data, resolve, "answered")}
      </details>`
    }`;
}

function renderAnswerExample(answers: readonly (readonly [string, Response])[]): Html | undefined {
  // The last of several success statuses is the one that made a change.
  const [status, answer] = answers.at(-1) ?? [];
  const [example] = Object.values(jsonOf(answer?.content)?.examples ?? {});
  if (!example || status === undefined) return undefined;
  return html`<h4>Answer <span class="status">${status}</span></h4>
    <pre tabindex="0" role="region" aria-label="Answer"><code>${JSON.stringify(example.value, null, 2)}</code></pre>`;
}

function renderErrors(answers: readonly (readonly [string, Response])[]): Html {
  return html`<h4>Errors</h4>
    <ul class="errors">
      ${answers.map(([status, { description }]) => {
        const codes = [...description.matchAll(/`([a-z_]+)`/g)].map(([, code = ""]) => code);
        return html`<li>
          <span class="status">${status}</span>
          ${codes.map((code) =>
            // Other surfaces have their own codes.
            Object.hasOwn(errorCatalogue, code)
              ? html`<a href="#error-${code}"><code>${code}</code></a> `
              : html`<code>${code}</code> `,
          )}
        </li>`;
      })}
    </ul>`;
}
