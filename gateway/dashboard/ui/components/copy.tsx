/** Text that is copied by one click. */
import { useEffect, useState } from "react";
import { Icon } from "./icon.tsx";

const shownMs = 1500;

/** Copies text, and knows for a moment that it did. */
export function useCopy(text: string): { isCopied: boolean; copy: () => void } {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    void writeText(text).then(setCopied);
  };
  return { isCopied, copy };
}

/** Over plain http from another host the clipboard is closed: then a selected text area does it. */
async function writeText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    (document.activeElement?.closest("[role=dialog]") ?? document.body).append(area);
    area.select();
    // oxlint-disable-next-line typescript/no-deprecated -- the only way without a secure context
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
  }
}

/** An id, shown and copied whole. `short` shows only its prefix and end. */
export function Copy({ text, label, short }: { text: string; label?: string; short?: boolean }): React.ReactNode {
  const { isCopied, copy } = useCopy(text);
  const shown = short ? shortened(text) : text;
  return (
    <button
      type="button"
      className="copy"
      title={text}
      onClick={(event) => {
        event.stopPropagation();
        copy();
      }}
    >
      <span className="hidden">{isCopied ? "Copied" : (label ?? "Copy")} </span>
      <code>{shown}</code>
      <Icon name={isCopied ? "check" : "copy"} />
    </button>
  );
}

/** prof_…x4k2: TypeIDs differ most at their end. */
function shortened(text: string): string {
  const end = text.slice(-6);
  const prefix = text.slice(0, text.lastIndexOf("_") + 1);
  return text.length > prefix.length + end.length + 1 ? `${prefix}…${end}` : text;
}

/** A button that copies what stands elsewhere. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }): React.ReactNode {
  const { isCopied, copy } = useCopy(text);
  return (
    <button type="button" className="button small" onClick={copy}>
      <Icon name={isCopied ? "check" : "copy"} />
      {isCopied ? "Copied" : label}
    </button>
  );
}
