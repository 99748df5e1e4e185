/** Short notes that something was done. What went wrong stands beside what failed, never here. */
import { useSyncExternalStore } from "react";

interface Toast {
  id: number;
  text: string;
}

const shownMs = 5000;
const shownMax = 3;
let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Says for 5 seconds that something was done. */
export function toast(text: string): void {
  const id = ++lastId;
  set([...toasts, { id, text }].slice(-shownMax));
  setTimeout(() => set(toasts.filter((shown) => shown.id !== id)), shownMs);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts(): React.ReactNode {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text }) => (
        <p key={id} className="toast">
          {text}
        </p>
      ))}
    </div>
  );
}
