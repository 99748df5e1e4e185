/** Keys that work on every screen, and which of the shell's dialogs is open. */
import { useNavigate, useParams } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import { shortcuts, useShortcuts } from "../data/shortcuts.ts";
import { allScreens } from "../screens.ts";

type Overlay = "palette" | "help" | undefined;

let current: Overlay;
const listeners = new Set<() => void>();

function set(next: Overlay): void {
  current = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const overlay = {
  open: (which: "palette" | "help"): void => set(which),
  close: (): void => set(undefined),
};

export function useOverlay(): Overlay {
  return useSyncExternalStore(subscribe, () => current);
}

export function useShellShortcuts(): void {
  const navigate = useNavigate();
  const { property = "" } = useParams({ strict: false });
  const goes = allScreens.map(({ path, letter }) => [
    `g ${letter}`,
    () => void navigate({ to: `/$property/${path}` as "/$property/overview", params: { property } }),
  ]);
  useShortcuts({
    ...(Object.fromEntries(goes) as Record<string, () => void>),
    [shortcuts.palette.keys]: () => overlay.open("palette"),
    [shortcuts.help.keys]: () => overlay.open("help"),
    [shortcuts.search.keys]: () => {
      const search = document.querySelector<HTMLInputElement>("#screen input[type=search]");
      if (search) search.focus();
      else overlay.open("palette");
    },
    // Only what waits for the second key.
    g: () => undefined,
  });
}
