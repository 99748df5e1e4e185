/** Parts of a screen, one at a time. The URL says which. Arrow keys move between them, as in every tab list. */
import { useId } from "react";

export function Tabs<Id extends string>({
  label,
  tabs,
  current,
  onChange,
}: {
  label: string;
  tabs: readonly { id: Id; title: string; content: React.ReactNode }[];
  current: Id;
  onChange: (id: Id) => void;
}): React.ReactNode {
  const base = useId();
  const at = Math.max(
    tabs.findIndex(({ id }) => id === current),
    0,
  );
  const shown = tabs[at];
  const move = (event: React.KeyboardEvent<HTMLElement>): void => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    const next = to === undefined ? undefined : tabs.at(to % tabs.length);
    if (!next) return;
    event.preventDefault();
    onChange(next.id);
    document.querySelector<HTMLElement>(`[id="${base}-${next.id}"]`)?.focus();
  };
  return (
    <div className="tabs">
      <div role="tablist" aria-label={label} className="tab-list">
        {tabs.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`${base}-${id}`}
            className="tab"
            aria-selected={id === shown?.id}
            aria-controls={`${base}-panel`}
            tabIndex={id === shown?.id ? 0 : -1}
            onClick={() => onChange(id)}
            onKeyDown={move}
          >
            {title}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${base}-panel`}
        aria-labelledby={`${base}-${shown?.id}`}
        tabIndex={0}
        className="tab-panel"
      >
        {shown?.content}
      </div>
    </div>
  );
}
