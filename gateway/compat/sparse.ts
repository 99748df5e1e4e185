/** Sparse fields. */
import { isJsonObject } from "#shared/json/json.ts";
import type { Query } from "./query.ts";
import type { Resource } from "./reply.ts";

const pathsMax = 100;

/** Keeps the attributes in `fields[type]`, names or dotted paths such as `location.city`; all if it is absent. */
export function pick(resource: Resource, { fields }: Pick<Query, "fields">): Resource {
  const paths = fields.get(resource.type);
  if (!paths || !resource.attributes) return resource;
  return { ...resource, attributes: pickPaths(resource.attributes, paths.slice(0, pathsMax)) };
}

function pickPaths(value: object, paths: readonly string[]): object {
  const whole = new Set(paths);
  // Requested paths below each key. A key may contain dots itself.
  const within = new Map<string, string[]>();
  for (const path of paths) {
    for (let dot = path.indexOf("."); dot >= 0; dot = path.indexOf(".", dot + 1)) {
      const key = path.slice(0, dot);
      within.set(key, [...(within.get(key) ?? []), path.slice(dot + 1)]);
    }
  }
  // Own properties only, because a caller's key may be `__proto__`.
  const entries = Object.entries(value).flatMap(([key, child]): [string, unknown][] => {
    if (whole.has(key)) return [[key, child]];
    const inner = within.get(key);
    return inner && isJsonObject(child) ? [[key, pickPaths(child, inner)]] : [];
  });
  return Object.fromEntries(entries);
}
