/**
 * The panel beside a table that shows one row. The URL says which is open, so that a link leads to it. Esc closes it,
 * and the focus goes back to the row. Narrow screens show it in place of the table.
 */
import { useEffect, useId, useRef } from "react";
import { shortcuts, useShortcuts } from "../data/shortcuts.ts";
import { Icon } from "./icon.tsx";

export function SidePanel({
  title,
  onClose,
  children,
}: {
  title: React.ReactNode;
  onClose: () => void;
  children: React.ReactNode;
}): React.ReactNode {
  const panel = useRef<HTMLElement>(null);
  const id = useId();
  useShortcuts({ [shortcuts.close.keys]: onClose });
  useEffect(() => {
    const before = document.activeElement;
    panel.current?.focus({ preventScroll: true });
    return () => {
      const row = before instanceof HTMLElement && before.isConnected ? before : undefined;
      (row ?? document.querySelector<HTMLElement>("#screen"))?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <aside ref={panel} className="side-panel" tabIndex={-1} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" className="icon-button" aria-label="Close the panel" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="side-panel-body">{children}</div>
    </aside>
  );
}

/** A table and its panel, side by side where there is room. */
export function WithPanel({ panel, children }: { panel: React.ReactNode; children: React.ReactNode }): React.ReactNode {
  return (
    <div className="with-panel" data-open={Boolean(panel)}>
      <div className="with-panel-main">{children}</div>
      {panel}
    </div>
  );
}
