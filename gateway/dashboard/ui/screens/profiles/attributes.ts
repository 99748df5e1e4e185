/** Attributes as they came: names are read, values stay text, so that nothing is rounded or reordered. */
import { type Node, parseTree } from "jsonc-parser";

export interface Attribute {
  name: string;
  /** Cut from the text that came. */
  json: string;
  /** Of JSON: `string`, `number`, `boolean`, `null`, `object` or `array`. */
  type: Node["type"];
}

/** In the order in which they are stored. */
export function attributesOf(attributesJson: string): Attribute[] {
  return (parseTree(attributesJson)?.children ?? []).flatMap(({ children: [name, value] = [] }) =>
    name && value
      ? [
          {
            name: String(name.value),
            json: attributesJson.slice(value.offset, value.offset + value.length),
            type: value.type,
          },
        ]
      : [],
  );
}
