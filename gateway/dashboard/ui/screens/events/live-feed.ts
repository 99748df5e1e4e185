/**
 * What Live shows: the newest rows, and exact totals of all that was recorded. Whatever the rate is, it draws at most
 * four times a second, and keeps at most 500 rows.
 */
import { watchShared } from "../../data/live/share.ts";
import type { LiveEvent, LiveFrame, StreamState } from "../../data/live/stream.ts";

export type LiveRow =
  | { is: "event"; id: string; event: LiveEvent }
  /** Events that were recorded between those above and below it, and are not shown. */
  | { is: "gap"; id: string; count: bigint; from: string | undefined; to: string | undefined };

export interface LiveView {
  state: StreamState;
  isPaused: boolean;
  /** Newest first. */
  rows: readonly LiveRow[];
  /** When it began. */
  since: Date | undefined;
  /** When it was paused. */
  pausedAt: Date | undefined;
  /** Events that were shown, also those that have left the table since. */
  shown: bigint;
  /** Events that were only counted. */
  skipped: bigint;
  /** Whether rows have left the table. */
  isCut: boolean;
}

export const rowsMax = 500;
const drawIntervalMs = 250;

export class LiveFeed {
  readonly #url: string;
  readonly #listeners = new Set<() => void>();
  #view: LiveView = {
    state: { is: "connecting" },
    isPaused: false,
    rows: [],
    since: undefined,
    pausedAt: undefined,
    shown: 0n,
    skipped: 0n,
    isCut: false,
  };
  /** Frames that are not drawn yet. */
  #waiting: LiveFrame[] = [];
  #next: Partial<LiveView> = {};
  #at: string | undefined;
  /** When the newest event so far was received. */
  #newest: string | undefined;
  #watching: AbortController | undefined;
  #drawTimer: ReturnType<typeof setTimeout> | undefined;
  #drawnAtMs = 0;

  constructor(url: string) {
    this.#url = url;
  }

  // Fields, because React calls them without their object.
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly view = (): LiveView => this.#view;

  /** Runs while the tab is in sight: hidden ones keep their place, so that they need no connection. */
  run(): () => void {
    const follow = (): void => (document.hidden || this.#isPaused ? this.#stop() : this.#start());
    document.addEventListener("visibilitychange", follow);
    follow();
    return () => {
      document.removeEventListener("visibilitychange", follow);
      clearTimeout(this.#drawTimer);
      this.#stop();
    };
  }

  /** Stops where it is: what comes meanwhile is shown or counted on resuming. */
  togglePause(): void {
    const isPaused = !this.#isPaused;
    this.#next = { ...this.#next, isPaused, pausedAt: isPaused ? new Date() : undefined };
    if (isPaused) this.#stop();
    else this.#start();
    this.#draw();
  }

  get #isPaused(): boolean {
    return this.#next.isPaused ?? this.#view.isPaused;
  }

  #start(): void {
    if (this.#watching) return;
    this.#watching = new AbortController();
    const on = {
      onStart: (at: string) => {
        this.#at = at;
        this.#change({ since: new Date() });
      },
      onFrame: (frame: LiveFrame) => {
        this.#at = frame.to;
        if (frame.events.length === 0 && frame.skipped === "0") return;
        this.#waiting.push(frame);
        this.#change({});
      },
      onState: (state: StreamState) => this.#change({ state }),
    };
    watchShared(this.#url, this.#at, on, this.#watching.signal);
  }

  #stop(): void {
    this.#watching?.abort();
    this.#watching = undefined;
  }

  #change(next: Partial<LiveView>): void {
    this.#next = { ...this.#next, ...next };
    if (this.#drawTimer !== undefined) return;
    const delayMs = Math.max(0, this.#drawnAtMs + drawIntervalMs - performance.now());
    this.#drawTimer = setTimeout(() => this.#draw(), delayMs);
  }

  #draw(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    this.#drawnAtMs = performance.now();
    let { shown, skipped, isCut } = this.#view;
    let rows: readonly LiveRow[] = this.#view.rows;
    for (const frame of this.#waiting) {
      shown += BigInt(frame.events.length);
      skipped += BigInt(frame.skipped);
      const all = [...this.#rowsOf(frame), ...rows];
      isCut ||= all.length > rowsMax;
      rows = all.slice(0, rowsMax);
    }
    this.#waiting = [];
    this.#view = { ...this.#view, ...this.#next, rows, shown, skipped, isCut };
    this.#next = {};
    for (const listener of this.#listeners) listener();
  }

  #rowsOf({ events, skipped, to }: LiveFrame): LiveRow[] {
    const rows: LiveRow[] = events.map((event) => ({ is: "event", id: event.id, event }));
    const count = BigInt(skipped);
    if (count > 0n) {
      rows.push({ is: "gap", id: to, count, from: this.#newest, to: events.at(-1)?.receivedAt });
    }
    this.#newest = events[0]?.receivedAt ?? this.#newest;
    return rows;
  }
}
