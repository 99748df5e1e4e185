/**
 * JSON as it came: every name, number and text is cut from the text itself, so nothing is rounded, reordered or
 * dropped. Only what is unfolded is in the page, at most 100 entries of a node at a time, so that 256 KB open at once.
 */
import { type Node, parseTree } from "jsonc-parser";
import { useMemo, useState } from "react";
import { CopyButton } from "./copy.tsx";
import { Segments } from "./field.tsx";

const entriesMax = 100;
const openDepthMax = 2;
const textShownMax = 2000;

export function JsonView({ text, label = "JSON" }: { text: string; label?: string }): React.ReactNode {
  const [form, setForm] = useState<"tree" | "text">("tree");
  const root = useMemo(() => parseTree(text), [text]);
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
          <JsonNode node={root} text={text} depth={0} />
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
  const isFolder = (node.type === "object" || node.type === "array") && (node.children?.length ?? 0) > 0;
  const named = name !== undefined && (
    <>
      <span className="json-key">{name}</span>
      {": "}
    </>
  );
  if (isFolder) return <JsonFolder node={node} text={text} depth={depth} named={named} />;
  return (
    <div className="json-line">
      {named}
      <Leaf node={node} text={text} />
    </div>
  );
}

function JsonFolder({
  node,
  text,
  depth,
  named,
}: {
  node: Node;
  text: string;
  depth: number;
  named: React.ReactNode;
}): React.ReactNode {
  const children = node.children ?? [];
  const [isOpen, setOpen] = useState(depth < openDepthMax && children.length <= entriesMax);
  const [shown, setShown] = useState(entriesMax);
  const [opening, closing] = node.type === "object" ? "{}" : "[]";
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {named}
        {opening}
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
