/**
 * One stream for all tabs that watch the same. One tab leads: it reads the stream and tells the others over a channel.
 * Each tab knows its own place, so it takes a frame only if it begins there: nothing is left out or taken twice when
 * tabs come, pause and go. A tab at another place reads a stream of its own until it is where the leader is.
 */
import { withLock, withRoom } from "./locks.ts";
import { runStream, type LiveFrame, type StreamEvents, type StreamState } from "./stream.ts";

type Note =
  | { is: "hello" }
  | { is: "state"; state: StreamState; at: string | undefined }
  | { is: "frame"; frame: LiveFrame };

/**
 * Watches until the signal.
 * @param url of the stream. Tabs with the same one share it.
 * @param start where to go on; undefined for now.
 */
export function watchShared(url: string, start: string | undefined, events: StreamEvents, signal: AbortSignal): void {
  new Watch(url, start, events, signal).begin();
}

class Watch {
  readonly #url: string;
  readonly #events: StreamEvents;
  readonly #signal: AbortSignal;
  readonly #channel: BroadcastChannel;
  /** Everything up to here was told. */
  #at: string | undefined;
  /** Where the leader is. */
  #leaderAt: string | undefined;
  #isLeader = false;
  #state: StreamState = { is: "connecting" };
  #catchingUp: AbortController | undefined;

  constructor(url: string, start: string | undefined, events: StreamEvents, signal: AbortSignal) {
    this.#url = url;
    this.#at = start;
    this.#events = events;
    this.#signal = signal;
    this.#channel = new BroadcastChannel(`daybook:live:${url}`);
  }

  begin(): void {
    this.#channel.addEventListener("message", ({ data }: MessageEvent<Note>) => this.#hear(data));
    this.#signal.addEventListener("abort", () => this.#channel.close(), { once: true });
    this.#events.onState(this.#state);
    this.#tell({ is: "hello" });
    void withLock(`live:${this.#url}`, this.#signal, () => this.#lead());
  }

  #tell(note: Note): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel stays within its origin
    if (!this.#signal.aborted) this.#channel.postMessage(note);
  }

  async #lead(): Promise<void> {
    this.#isLeader = true;
    this.#catchingUp?.abort();
    this.#catchingUp = undefined;
    await this.#read(this.#signal, {
      onStart: (at) => {
        this.#startAt(at);
        this.#tell({ is: "state", state: this.#state, at });
      },
      onFrame: (frame) => {
        this.#take(frame);
        this.#tell({ is: "frame", frame });
      },
      onState: (state) => {
        this.#setState(state);
        this.#tell({ is: "state", state, at: this.#at });
      },
    });
    // Refused for good. The lock is kept, because the others would be refused too.
    if (!this.#signal.aborted) await new Promise((resolve) => this.#signal.addEventListener("abort", resolve));
  }

  async #read(signal: AbortSignal, events: StreamEvents): Promise<void> {
    await withRoom(
      signal,
      () => events.onState({ is: "queued" }),
      () => runStream(this.#url, () => this.#at, events, signal),
    );
  }

  #hear(note: Note): void {
    if (this.#signal.aborted) return;
    if (note.is === "hello") {
      if (this.#isLeader) this.#tell({ is: "state", state: this.#state, at: this.#at });
      return;
    }
    if (this.#isLeader) return;
    if (note.is === "frame") {
      this.#leaderAt = note.frame.to;
      if (!this.#catchingUp && this.#at === note.frame.from) this.#take(note.frame);
    } else {
      this.#leaderAt = note.at;
      if (!this.#catchingUp || note.state.is === "refused") this.#setState(note.state);
      if (this.#at === undefined && note.at !== undefined) this.#startAt(note.at);
    }
    this.#compare();
  }

  /** Begins to catch up where the leader is elsewhere, and ends it where both are at the same place. */
  #compare(): void {
    if (this.#isLeader || this.#at === undefined || this.#leaderAt === undefined) return;
    if (this.#at === this.#leaderAt) {
      this.#catchingUp?.abort();
      this.#catchingUp = undefined;
    } else if (!this.#catchingUp) void this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    const over = new AbortController();
    this.#catchingUp = over;
    await this.#read(AbortSignal.any([this.#signal, over.signal]), {
      onStart: () => undefined,
      onFrame: (frame) => {
        this.#take(frame);
        this.#compare();
      },
      onState: (state) => this.#setState(state),
    });
  }

  #startAt(at: string): void {
    this.#at = at;
    this.#events.onStart(at);
  }

  #take(frame: LiveFrame): void {
    this.#at = frame.to;
    this.#events.onFrame(frame);
  }

  #setState(state: StreamState): void {
    this.#state = state;
    this.#events.onState(state);
  }
}
