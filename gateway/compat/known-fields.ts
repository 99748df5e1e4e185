/** Names that `fields[type]` takes: the attributes that resources of the type have, read from what documents them, and `id`. */
import type Type from "typebox";
import * as resources from "./resources.ts";

const described: readonly { properties: { type: unknown; attributes?: unknown } }[] = [
  resources.Event,
  resources.Profile,
  resources.Metric,
  resources.MetricAggregate,
  resources.ImportJob,
  resources.ImportError,
  resources.Account,
];

const attributes = new Map(
  described.map(({ properties }) => [
    (properties.type as Type.TLiteral<string>).const,
    new Set(["id", ...Object.keys((properties.attributes as Type.TObject).properties)]),
  ]),
);

/** Types of which there is nothing here. Whatever is asked of them, there is nothing to answer. */
const emptyTypes: ReadonlySet<string> = new Set([
  "attribution",
  "conversation",
  "event-bulk-create-job",
  "flow",
  "list",
  "push-token",
  "segment",
  "tag",
]);

/** Whether there are resources of a type, here or on the other platform. */
export function isKnownType(type: string): boolean {
  return attributes.has(type) || emptyTypes.has(type);
}

/** The first of some paths, such as `location.city`, that leads to nothing a resource of a type has. */
export function findUnknownField(type: string, paths: readonly string[]): string | undefined {
  const known = attributes.get(type);
  return known && paths.find((path) => !known.has(path.split(".", 1)[0] ?? ""));
}

/** What resources of a type have. */
export function fieldsOfType(type: string): readonly string[] {
  return [...(attributes.get(type) ?? [])];
}
