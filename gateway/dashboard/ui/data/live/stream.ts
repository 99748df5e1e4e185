/** The live stream of one tab: reads it, and connects anew from where it was when it breaks. */
import { leaveForSignIn } from "../transport.ts";
import { readMessages } from "./messages.ts";

/** What a table shows of an event. Its properties stay out, so that memory stays small. */
export interface LiveEvent {
  id: string;
  type: string;
  profileId?: string | undefined;
  value?: string | undefined;
  currency?: string | undefined;
  source: string;
  occurredAt: string;
  receivedAt: string;
  backfill: boolean;
}

/** What was recorded between two places. It can be sent over a channel. */
export interface LiveFrame {
  from: string;
  to: string;
  /** Newest first. */
  events: readonly LiveEvent[];
  /** How many more there were: decimal text. They are older than the events. */
  skipped: string;
}

export type StreamState =
  | { is: "connecting" }
  | { is: "open" }
  /** As many streams are open as one browser may have. */
  | { is: "queued" }
  | { is: "lost"; retryAtMs: number }
  /** For good. */
  | { is: "refused"; advice: string };

export interface StreamEvents {
  /** The stream has a beginning, which is now. */
  onStart: (at: string) => void;
  onFrame: (frame: LiveFrame) => void;
  onState: (state: StreamState) => void;
}

// The server says every 15 seconds that it is there.
const silenceMsMax = 40_000;
const retryMsMin = 500;
const retryMsMax = 15_000;

const refusals: Readonly<Record<number, string>> = {
  400: "The filter is not valid. Change it.",
  403: "Your role does not allow reading events. Ask an admin of this property.",
  404: "This property does not exist, or is not open to you.",
};

/**
 * Reads a stream until the signal, and tells what comes.
 * @param position where it goes on; undefined for now. Asked for at each connection.
 */
export async function runStream(
  url: string,
  position: () => string | undefined,
  events: StreamEvents,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    events.onState({ is: "connecting" });
    const outcome = await connect(url, position, events, signal, () => (failures = 0)).catch(() => "lost" as const);
    if (signal.aborted || outcome === "over") return;
    // Many tabs that lost the same gateway do not come back at the same instant.
    const delayMs = Math.min(retryMsMin * 2 ** failures, retryMsMax) * (0.75 + Math.random() / 2);
    failures++;
    events.onState({ is: "lost", retryAtMs: Date.now() + delayMs });
    await pause(delayMs, signal);
  }
}

async function connect(
  url: string,
  position: () => string | undefined,
  { onStart, onFrame, onState }: StreamEvents,
  signal: AbortSignal,
  onOpen: () => void,
): Promise<"lost" | "over"> {
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hear = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), silenceMsMax);
  };
  hear();
  try {
    const at = position();
    const response = await fetch(url, {
      headers: { accept: "text/event-stream", ...(at !== undefined && { "last-event-id": at }) },
      cache: "no-store",
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (response.status === 401) return leave();
    const advice = refusals[response.status];
    if (advice !== undefined) {
      onState({ is: "refused", advice });
      return "over";
    }
    if (!response.ok || !response.body) return "lost";
    onOpen();
    onState({ is: "open" });
    for await (const { event, data, id } of readMessages(response.body, hear)) {
      if (signal.aborted) return "over";
      if (event === "end") return endOf(data, onState);
      const from = position();
      if (id === undefined) continue;
      if (from === undefined) onStart(id);
      else if (event === "frame") onFrame({ from, to: id, ...readFrame(data) });
      else if (id !== from) onFrame({ from, to: id, events: [], skipped: "0" });
    }
    return "lost";
  } finally {
    clearTimeout(timer);
  }
}

function leave(): "over" {
  leaveForSignIn();
  return "over";
}

function endOf(data: string, onState: StreamEvents["onState"]): "lost" | "over" {
  const { reason } = JSON.parse(data) as { reason: string };
  if (reason === "signed_out") return leave();
  if (reason !== "forbidden") return "lost";
  onState({ is: "refused", advice: refusals[403] ?? "" });
  return "over";
}

/** The JSON form of protobuf leaves out what is false. */
type EventJson = Omit<LiveEvent, "backfill"> & { backfill?: boolean };

function readFrame(data: string): Pick<LiveFrame, "events" | "skipped"> {
  const { events, skipped } = JSON.parse(data) as { events: EventJson[]; skipped: string };
  return {
    skipped,
    events: events.map(
      ({ id, type, profileId, value, currency, source, occurredAt, receivedAt, backfill = false }) => ({
        id,
        type,
        profileId,
        value,
        currency,
        source,
        occurredAt,
        receivedAt,
        backfill,
      }),
    ),
  };
}

/** Resolves after a time, or at the signal. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
