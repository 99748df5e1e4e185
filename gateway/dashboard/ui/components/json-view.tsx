/**
 * JSON as it came: every name, number and text is cut from the text itself, so nothing is rounded, reordered or
 * dropped. Only what is unfolded is in the page, at most 100 entries of a node at a time, so that 256 KB open at once.
 */
import { type Node, parseTree } from "jsonc-parser";
import { createContext, use, useMemo, useState } from "react";
import { type Faults, findFaults, noFaults } from "../data/json-faults.ts";
import { CopyButton } from "./copy.tsx";
import { Segments } from "./field.tsx";

const entriesMax = 100;
const openDepthMax = 2;
const textShownMax = 2000;
const none: readonly string[] = [];

const FaultsOf = createContext<Faults>(noFaults);

export function JsonView({
  text,
  label = "JSON",
  at = none,
}: {
  text: string;
  label?: string;
  /** What is wrong: paths to fields, such as `properties.items.0.price`. They are unfolded and marked. */
  at?: readonly string[];
}): React.ReactNode {
  const [form, setForm] = useState<"tree" | "text">("tree");
  const root = useMemo(() => parseTree(text), [text]);
  const faults = useMemo(() => (root ? findFaults(root, at) : noFaults), [root, at]);
  return (
    <figure className="json" aria-label={label}>
      <div className="json-bar">
        <Segments
          label="Form"
          value={form}
          options={[
            { value: "tree", title: "Tree" },
            { value: "text", title: "As it came" },
          ]}
          onChange={setForm}
        />
        <CopyButton text={text} />
      </div>
      {form === "tree" && root ? (
        <div className="json-tree">
          <FaultsOf value={faults}>
            <JsonNode node={root} text={text} depth={0} />
          </FaultsOf>
        </div>
      ) : (
        <pre tabIndex={0} aria-label={label}>
          <code>{text}</code>
        </pre>
      )}
    </figure>
  );
}

function JsonNode({
  node,
  text,
  depth,
  name,
}: {
  node: Node;
  text: string;
  depth: number;
  name?: string;
}): React.ReactNode {
  const { marked } = use(FaultsOf);
  const isFolder = (node.type === "object" || node.type === "array") && (node.children?.length ?? 0) > 0;
  const isMarked = marked.has(node.offset);
  const named = name !== undefined && (
    <>
      <span className="json-key">{name}</span>
      {": "}
    </>
  );
  const mark = isMarked && <strong className="json-fault">at fault</strong>;
  if (isFolder) return <JsonFolder node={node} text={text} depth={depth} named={named} mark={mark} />;
  return (
    <div className="json-line" data-marked={isMarked || undefined}>
      {named}
      <Leaf node={node} text={text} /> {mark}
    </div>
  );
}

function JsonFolder({
  node,
  text,
  depth,
  named,
  mark,
}: {
  node: Node;
  text: string;
  depth: number;
  named: React.ReactNode;
  mark: React.ReactNode;
}): React.ReactNode {
  const children = node.children ?? [];
  const { above } = use(FaultsOf);
  const last = above.get(node.offset);
  const [isOpen, setOpen] = useState(last !== undefined || (depth < openDepthMax && children.length <= entriesMax));
  const [shown, setShown] = useState(Math.max(entriesMax, (last ?? 0) + 1));
  const [opening, closing] = node.type === "object" ? "{}" : "[]";
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary data-marked={mark ? true : undefined}>
        {named}
        {opening} {mark}
        {!isOpen && (
          <span className="muted">
            {" "}
            {children.length} {node.type === "object" ? "fields" : "items"} {closing}
          </span>
        )}
      </summary>
      {isOpen && (
        <div className="json-children">
          {children.slice(0, shown).map((child) => {
            const [key, value] = node.type === "object" ? (child.children ?? []) : [undefined, child];
            if (!value) return null;
            return (
              <JsonNode
                key={child.offset}
                node={value}
                text={text}
                depth={depth + 1}
                {...(key && { name: cut(text, key) })}
              />
            );
          })}
          {children.length > shown && (
            <button type="button" className="button small" onClick={() => setShown(shown + entriesMax)}>
              Show {Math.min(entriesMax, children.length - shown)} more of {children.length}
            </button>
          )}
        </div>
      )}
      {isOpen && <div className="json-line">{closing}</div>}
    </details>
  );
}

const cut = (text: string, { offset, length }: Node): string => text.slice(offset, offset + length);

function Leaf({ node, text }: { node: Node; text: string }): React.ReactNode {
  const [isWhole, setWhole] = useState(false);
  const value = cut(text, node);
  const isCut = value.length > textShownMax && !isWhole;
  return (
    <span className={`json-${node.type}`}>
      {isCut ? `${value.slice(0, textShownMax)}…` : value}
      {isCut && (
        <button type="button" className="button small" onClick={() => setWhole(true)}>
          Show all {value.length.toLocaleString()} characters
        </button>
      )}
    </span>
  );
}
