/** Ctrl K or ⌘ K: goes to a screen or a property by a part of its name, and to a thing by its id. */
import { useNavigate, useParams } from "@tanstack/react-router";
import { useId, useState } from "react";
import { Dialog } from "../components/dialog.tsx";
import { isTest, useViewer } from "../data/viewer.ts";
import { setTheme } from "../data/theme.ts";
import { screensFor } from "./navigation.tsx";
import { goToId } from "./ids.ts";

interface Entry {
  id: string;
  title: string;
  detail: string;
  run: () => void;
}

const shownMax = 12;

export default function Palette({ onClose }: { onClose: () => void }): React.ReactNode {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const entries = useEntries(query.trim());
  const chosen = Math.min(at, entries.length - 1);
  const run = (entry: Entry | undefined): void => {
    if (!entry) return;
    onClose();
    entry.run();
  };
  const move = (event: React.KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      setAt((chosen + step + entries.length) % entries.length);
    }
    if (event.key === "Enter") {
      event.preventDefault();
      run(entries[chosen]);
    }
  };
  return (
    <Dialog title="Go to or find" onClose={onClose} className="palette">
      <input
        className="input"
        type="text"
        role="combobox"
        aria-label="Screen, property or id"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={entries[chosen] ? `${list}-${chosen}` : undefined}
        placeholder="A screen, a property, or an id such as key_…"
        autoComplete="off"
        spellCheck={false}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog has its focus in itself
        autoFocus
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        onKeyDown={move}
      />
      <div id={list} role="listbox" aria-label="Results" className="palette-list">
        {entries.map((entry, index) => (
          <div
            key={entry.id}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === chosen}
            className="menu-item"
            data-focused={index === chosen}
            onClick={() => run(entry)}
          >
            <span>{entry.title}</span>
            <span className="muted">{entry.detail}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p className="muted">Nothing has this name, and it is no id of a kind that is known.</p>}
    </Dialog>
  );
}

function useEntries(query: string): Entry[] {
  const viewer = useViewer();
  const navigate = useNavigate();
  const { property: propertyId = "" } = useParams({ strict: false });
  const property = viewer.properties.find(({ id }) => id === propertyId);
  const toId = goToId(query, viewer.properties);
  if (toId) return [{ id: "id", title: query, detail: toId.title, run: () => void navigate(toId.to(propertyId)) }];
  const screens: Entry[] = (property ? screensFor(viewer, property) : []).map(({ path, title, letter }) => ({
    id: path,
    title,
    detail: `g ${letter}`,
    run: () => void navigate({ to: `/$property/${path}` as "/$property/overview", params: { property: propertyId } }),
  }));
  const properties: Entry[] = viewer.properties.map((other) => ({
    id: other.id,
    title: other.name,
    detail: isTest(other) ? "Test property" : "Live property",
    run: () => void navigate({ to: "/$property/overview", params: { property: other.id } }),
  }));
  const themes: Entry[] = (["light", "dark", "system"] as const).map((theme) => ({
    id: theme,
    title: `Theme: ${theme}`,
    detail: "Action",
    run: () => setTheme(theme),
  }));
  const wanted = query.toLowerCase();
  return [...screens, ...properties, ...themes]
    .filter(({ title }) => title.toLowerCase().includes(wanted))
    .slice(0, shownMax);
}
