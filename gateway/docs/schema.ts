/** Renders schemas: the fields of an object in a list, those of nested objects folded. */
import type { Resolve, Schema } from "./document.ts";
import { html, inline, type Html } from "./html.ts";

/** Requests mark required fields; answers mark fields that may be absent. */
export type Side = "sent" | "answered";

/** The fields of a schema with nested ones; undefined without fields. */
export function renderFields(schema: Schema, resolve: Resolve, side: Side): Html | undefined {
  const object = objectWithin(schema, resolve);
  const fields = Object.entries(object?.properties ?? {});
  if (fields.length === 0) return undefined;
  return html`<dl class="fields">
    ${fields.map(([name, field]) => {
      const isRequired = object?.required?.includes(name) ?? false;
      return renderField(name, field, resolve, { side, isRequired });
    })}
  </dl>`;
}

/** A field or a parameter: name, type, description, limits, and nested fields. */
export function renderField(
  name: string,
  schema: Schema,
  resolve: Resolve,
  { side, isRequired, more }: { side: Side; isRequired: boolean; more?: Html | undefined },
): Html {
  const within = renderFields(schema, resolve, side);
  const description = schema.description ?? resolve(schema).description;
  return html`<dt>
      <code class="name">${name}</code> <span class="type">${typeText(schema, resolve)}</span>
      ${isRequired && side === "sent" && html`<strong class="required">required</strong>`}
      ${!isRequired && side === "answered" && html`<span class="type">(not always there)</span>`}
    </dt>
    <dd>
      ${description !== undefined && html`<p>${inline(description)}</p>`} ${more} ${renderLimits(schema, resolve)}
      ${
        within &&
        html`<details>
          <summary>Fields of <code>${name}</code></summary>
          ${within}
        </details>`
      }
    </dd>`;
}

/** The object in a schema: itself, its item, or the form of a union that is an object. */
function objectWithin(schema: Schema, resolve: Resolve): Schema | undefined {
  const found = resolve(schema);
  if (found.properties) return found;
  if (found.items) return objectWithin(found.items, resolve);
  return found.anyOf?.map((form) => objectWithin(form, resolve)).find((object) => object !== undefined);
}

export function typeText(schema: Schema, resolve: Resolve): string {
  const {
    type,
    const: only,
    enum: choice,
    anyOf,
    items,
    format,
    additionalProperties,
    patternProperties,
  } = resolve(schema);
  if (only !== undefined) return JSON.stringify(only);
  if (choice) return choice.map((value) => JSON.stringify(value)).join(" or ");
  if (anyOf) return [...new Set(anyOf.map((form) => typeText(form, resolve)))].join(" or ");
  if (items) return `array of ${typeText(items, resolve)}`;
  const [values] = Object.values(patternProperties ?? {});
  if (values) return `object of ${typeText(values, resolve)}`;
  if (typeof additionalProperties === "object") return `object of ${typeText(additionalProperties, resolve)}`;
  if (format !== undefined) return format;
  return type === undefined ? "any JSON" : [type].flat().join(" or ");
}

function renderLimits(schema: Schema, resolve: Resolve): Html | undefined {
  const resolved = resolve(schema);
  // The limits of a nullable value are in its other form.
  const forms = resolved.anyOf?.map(resolve).filter(({ type }) => type !== "null") ?? [];
  const found = forms.length === 1 ? { ...forms[0], default: resolved.default } : resolved;
  const span = (min: number | undefined, max: number | undefined, what: string): string | undefined => {
    if (max === undefined) return min === undefined || min === 0 ? undefined : `at least ${min} ${what}`.trim();
    return (min === undefined || min === 0 ? `at most ${max} ${what}` : `${min} to ${max} ${what}`).trim();
  };
  const limits = [
    span(found.minLength, found.maxLength, "characters"),
    span(found.minItems, found.maxItems, "items"),
    span(found.minProperties, found.maxProperties, "keys"),
    span(found.minimum, found.maximum, ""),
    found.default === undefined ? undefined : `default ${JSON.stringify(found.default)}`,
  ].filter((limit) => limit !== undefined);
  // A format makes the pattern redundant.
  const pattern = found.format === undefined ? found.pattern : undefined;
  if (limits.length === 0 && pattern === undefined) return undefined;
  return html`<p class="limits">
    ${limits.join("; ")}${pattern !== undefined && html` <span>pattern <code>${pattern}</code></span>`}
  </p>`;
}
