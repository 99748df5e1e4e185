/**
 * Which tab reads which stream. Over HTTP/1.1 a browser has six connections to an origin for all of its tabs, and a
 * stream keeps one. So tabs that watch the same share a stream, and at most three streams are open in a browser.
 *
 * Web Locks end with their tab, however it ends. They need a secure context, as the dashboard does; without them each
 * tab has a stream of its own.
 */
const slots = ["1", "2", "3"] as const;

/** Waits for a lock, and holds it while `use` runs. Ends silently at the signal. */
export async function withLock(name: string, signal: AbortSignal, use: () => Promise<void>): Promise<void> {
  if (!("locks" in navigator)) return use();
  try {
    await navigator.locks.request(`daybook:${name}`, { signal }, use);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Waits for room for a stream, and holds it while `use` runs. Ends silently at the signal. */
export async function withRoom(signal: AbortSignal, onWait: () => void, use: () => Promise<void>): Promise<void> {
  if (!("locks" in navigator)) return use();
  let isTaken = false;
  const once = (): Promise<void> => {
    isTaken = true;
    return use();
  };
  for (const slot of slots) {
    await navigator.locks.request(`daybook:live-room-${slot}`, { ifAvailable: true }, (lock) =>
      lock && !signal.aborted ? once() : undefined,
    );
    if (isTaken || signal.aborted) return;
  }
  onWait();
  const others = new AbortController();
  const either = AbortSignal.any([signal, others.signal]);
  await Promise.all(
    slots.map((slot) =>
      withLock(`live-room-${slot}`, either, async () => {
        if (isTaken || signal.aborted) return;
        const done = once();
        others.abort();
        await done;
      }),
    ),
  );
}
