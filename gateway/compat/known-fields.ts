/** Names for `fields[type]`: `id` and the attributes in the schemas of resources. */
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

/** Types without resources here. Any field of them is accepted, because nothing is returned. */
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

/** Whether a type exists here or on the other platform. */
export function isKnownType(type: string): boolean {
  return attributes.has(type) || emptyTypes.has(type);
}

/** The first path, such as `location.city`, that a type does not have. */
export function findUnknownField(type: string, paths: readonly string[]): string | undefined {
  const known = attributes.get(type);
  return known && paths.find((path) => !known.has(path.split(".", 1)[0] ?? ""));
}

export function fieldsOfType(type: string): readonly string[] {
  return [...(attributes.get(type) ?? [])];
}
