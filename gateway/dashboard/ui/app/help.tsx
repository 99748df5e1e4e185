/** The help dialog: the keyboard, from its tables. */
import { Dialog } from "../components/dialog.tsx";
import { shortcuts } from "../data/shortcuts.ts";
import { allScreens } from "../screens.ts";

export default function Help({ onClose }: { onClose: () => void }): React.ReactNode {
  const rows = [
    ...Object.values(shortcuts),
    ...allScreens.map(({ letter, title }) => ({ keys: `g ${letter}`, title: `Go to ${title}` })),
  ];
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className="keyboard">
        {rows.map(({ keys, title }) => (
          <div key={keys}>
            <dt>
              {keys.split(/[ +]/).map((key) => (
                <kbd key={key}>{names[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
      <p className="muted">Keys do nothing while you type in a field.</p>
    </Dialog>
  );
}

const names: Record<string, string> = { mod: "Ctrl or ⌘", Escape: "Esc" };
