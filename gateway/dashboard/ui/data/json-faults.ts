/** Where in JSON what is wrong is, by the paths that errors have. */
import type { Node } from "jsonc-parser";

export interface Faults {
  /** Offsets of the nodes at fault. */
  marked: ReadonlySet<number>;
  /** Offset of a node around one at fault → the index of the last child on the way there. */
  above: ReadonlyMap<number, number>;
}

export const noFaults: Faults = { marked: new Set(), above: new Map() };

/**
 * Finds fields by `properties.items.0.price` or `/properties/items/0/price`. A field that is missing is at fault in the
 * nearest one around it, and a name of an item, such as `events.3.value`, also where the JSON is the item alone.
 */
export function findFaults(root: Node, paths: readonly string[]): Faults {
  const marked = new Set<number>();
  const above = new Map<number, number>();
  for (const path of paths) {
    const names = partsOf(path);
    const inItem = names.findIndex((name) => /^\d+$/.test(name)) + 1;
    const whole = walk(root, names);
    const alone = inItem > 0 && whole.length === 1 ? walk(root, names.slice(inItem)) : whole;
    const way = alone.length > whole.length ? alone : whole;
    for (const [index, { node, child }] of way.entries()) {
      if (index === way.length - 1) marked.add(node.offset);
      else above.set(node.offset, Math.max(child, above.get(node.offset) ?? 0));
    }
  }
  return { marked, above };
}

function partsOf(path: string): string[] {
  if (!path.startsWith("/")) return path.split(".");
  return path
    .slice(1)
    .split("/")
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The nodes on the way to a field, as far as there are any. Names may have dots in them. */
function walk(root: Node, names: readonly string[]): { node: Node; child: number }[] {
  const way = [{ node: root, child: 0 }];
  let at = 0;
  let node = root;
  while (at < names.length) {
    const step = stepInto(node, names.slice(at));
    if (!step) break;
    (way.at(-1) as { child: number }).child = step.child;
    ({ node } = step);
    way.push({ node, child: 0 });
    at += step.used;
  }
  return way;
}

function stepInto(node: Node, names: readonly string[]): { node: Node; child: number; used: number } | undefined {
  const children = node.children ?? [];
  if (node.type === "array") {
    const child = Number(names[0]);
    const item = children[child];
    return item && { node: item, child, used: 1 };
  }
  if (node.type !== "object") return undefined;
  for (let used = 1; used <= names.length; used++) {
    const name = names.slice(0, used).join(".");
    const child = children.findIndex((property) => property.children?.[0]?.value === name);
    const value = children[child]?.children?.[1];
    if (value) return { node: value, child, used };
  }
  return undefined;
}
