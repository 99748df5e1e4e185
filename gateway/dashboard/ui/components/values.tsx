/** Times, counts and amounts on a screen. Data comes as text, bigint or Timestamp and stays exact. */
import { useId, useState, useSyncExternalStore } from "react";
import { formatAmount, formatCount } from "../data/numbers.ts";
import { dateOf, formatAbsolute, formatExact, formatRelative, type Instant } from "../data/times.ts";

const tickMs = 10_000;
let now = new Date();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for all times on the screen. It runs only while there are any. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  now = new Date();
  timer ??= setInterval(() => {
    now = new Date();
    for (const each of listeners) each();
  }, tickMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export function useNow(): Date {
  return useSyncExternalStore(subscribe, () => now);
}

/**
 * A time: "5 min. ago", and on hover and focus the absolute one with its zone. In tables it is not focusable, because
 * the panel of the row has it; `absolute` shows it right away.
 */
export function Time({
  at,
  absolute = false,
  focusable = false,
}: {
  at: Instant | undefined;
  absolute?: boolean;
  focusable?: boolean;
}): React.ReactNode {
  const current = useNow();
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  if (!at) return null;
  const date = dateOf(at);
  const long = formatAbsolute(date);
  return (
    <time
      dateTime={formatExact(at)}
      title={`${long}\n${formatExact(at)}`}
      className="time"
      {...(focusable && {
        tabIndex: 0,
        "aria-describedby": id,
        onFocus: () => setOpen(true),
        onBlur: () => setOpen(false),
        onKeyDown: (event: React.KeyboardEvent) => {
          if (event.key === "Escape") setOpen(false);
        },
      })}
    >
      {absolute ? long : formatRelative(date, current)}
      {focusable && (
        <span id={id} className="tip" hidden={!isOpen}>
          {long}
        </span>
      )}
    </time>
  );
}

/** A whole number, exact. */
export function Count({ value }: { value: bigint | string | number }): React.ReactNode {
  return <span className="number">{formatCount(value)}</span>;
}

/** Decimal text, with a currency if it has one, exact. */
export function Amount({ value, currency }: { value: string; currency?: string | undefined }): React.ReactNode {
  return <span className="number">{formatAmount(value, currency)}</span>;
}
