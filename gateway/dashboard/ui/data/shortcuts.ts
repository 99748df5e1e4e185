/** The keyboard: one table of all keys, and the one listener that hears them. */
import { useEffect, useRef } from "react";

/** As in a KeyboardEvent, lower case; `mod+k` is Ctrl K or ⌘ K; `g o` is one after the other. */
export interface Shortcut {
  keys: string;
  title: string;
}

/** What screens may listen to beside `g` and a letter. The help dialog shows this table. */
export const shortcuts = {
  palette: { keys: "mod+k", title: "Go to a screen, a property or an id" },
  search: { keys: "/", title: "Search on this screen" },
  down: { keys: "j", title: "Next row" },
  up: { keys: "k", title: "Previous row" },
  open: { keys: "Enter", title: "Open the row" },
  close: { keys: "Escape", title: "Close the panel or dialog" },
  pause: { keys: ".", title: "Pause or resume what is live" },
  help: { keys: "?", title: "Show this help" },
} as const satisfies Record<string, Shortcut>;

type Handlers = ReadonlyMap<string, (event: KeyboardEvent) => void>;

const heard: Handlers[] = [];
const sequenceMs = 1200;
let lastG = Number.NEGATIVE_INFINITY;

/** Keys are text while somebody types, and belong to the dialog while one is open. */
function isElsewhere({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("[role=dialog],[role=alertdialog],[role=menu],[role=listbox]"))
    return true;
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || isTextInput(target);
}

function isTextInput(target: HTMLElement): boolean {
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit"].includes(target.type);
}

function nameOf(event: KeyboardEvent): string | undefined {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.altKey) return undefined;
  if (event.ctrlKey || event.metaKey) return `mod+${key}`;
  if (event.timeStamp - lastG < sequenceMs) return `g ${key}`;
  return key;
}

function listen(event: KeyboardEvent): void {
  const name = event.isComposing || event.defaultPrevented ? undefined : nameOf(event);
  if (name === undefined || (!name.startsWith("mod+") && isElsewhere(event))) return;
  lastG = name === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
  // The newest listener first: a screen goes before the shell.
  const handler = heard.findLast((handlers) => handlers.has(name))?.get(name);
  if (!handler) return;
  event.preventDefault();
  handler(event);
}

/** Listens to keys while the component is there: keys as in Shortcut → what they do. */
export function useShortcuts(handlers: Record<string, (event: KeyboardEvent) => void>): void {
  const latest = useRef(handlers);
  useEffect(() => {
    latest.current = handlers;
  });
  const names = Object.keys(handlers).join(",");
  useEffect(() => {
    const entry: Handlers = new Map(
      names.split(",").map((name) => [name, (event: KeyboardEvent) => latest.current[name]?.(event)]),
    );
    heard.push(entry);
    if (heard.length === 1) document.addEventListener("keydown", listen);
    return () => {
      heard.splice(heard.indexOf(entry), 1);
      if (heard.length === 0) document.removeEventListener("keydown", listen);
    };
  }, [names]);
}
