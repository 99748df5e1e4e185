/**
 * Reads on in the events for everybody who watches the same. Watchers at the same place share one read a second,
 * however many they are. Whoever goes on from an earlier place catches up alone, and joins the others as soon as a read
 * of theirs holds every event since the own place.
 */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { CallOptions } from "@connectrpc/connect";
import type { Event, EventPosition, TailEventsResponse } from "#proto/daybook/event/v1/event_pb.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { pause } from "#shared/scheduling/pause.ts";
import type { Log } from "#shared/process/log.ts";
import type { Clients } from "../../clients.ts";
import { comparePositions, positionOf, writePosition } from "./position.ts";

/** What is watched. */
export interface Filter {
  propertyId: string;
  type?: string | undefined;
  profileId?: string | undefined;
  source?: string | undefined;
  withoutSystem: boolean;
}

export interface Frame {
  /** Newest first. */
  events: readonly Event[];
  /** How many more there were. */
  skipped: bigint;
  position: EventPosition;
  recordedUpTo?: Timestamp | undefined;
}

export interface Watcher {
  /** Where it goes on; undefined until the stream has a beginning. */
  position: EventPosition | undefined;
  /** Whether the browser has taken what it was sent. If not, its place stays, and its next frame tells of more. */
  readonly isReady: boolean;
  /** Takes where its stream begins, or what came since. */
  take(frame: Frame): void;
}

export interface Feeds {
  /** @returns a function that ends the watching. */
  watch(filter: Filter, watcher: Watcher): () => void;
}

type Read = Pick<TailEventsResponse, "events" | "skipped" | "position" | "recordedUpTo" | "hasMore">;

const eventsMax = 50;
const intervalMs = 1_000;
// At most 4 frames a second, also while a read ends before the end.
const frameIntervalMs = 250;
const timeoutMs = 10_000;

export function createFeeds({ events }: Clients, log: Log): Feeds {
  const feeds = new Map<string, Set<Watcher>>();

  async function read(filter: Filter, after: EventPosition | undefined): Promise<Read> {
    const options: CallOptions = systemCall("gateway", timeoutMs);
    return events.tailEvents({ ...filter, limit: eventsMax, ...(after ? { after } : {}) }, options);
  }

  /** Reads once for all that are ready. @returns whether more is there already. */
  async function round(filter: Filter, watchers: ReadonlySet<Watcher>): Promise<boolean> {
    const ready = [...watchers].filter(({ isReady }) => isReady);
    const groups = [...Map.groupBy(ready, ({ position }) => (position ? writePosition(position) : "")).values()];
    // The largest group first, so that the others can join it. Those without a place begin where it is.
    groups.sort((some, other) => Number(hasPlace(other)) - Number(hasPlace(some)) || other.length - some.length);
    let main: { before: EventPosition; frame: Read } | undefined;
    let hasMore = false;
    for (const group of groups) {
      const before = group[0]?.position;
      const joined = main && joinedFrame(main, before);
      const frame: Read = joined ?? (await read(filter, before));
      if (!joined && before) main ??= { before, frame };
      hasMore ||= frame.hasMore;
      const { position } = frame;
      if (!position) throw new Error("the event service answered without a position");
      const shared: Frame = { ...frame, position };
      for (const watcher of group) {
        if (!watchers.has(watcher)) continue;
        watcher.take(shared);
        watcher.position = position;
      }
    }
    return hasMore;
  }

  async function run(key: string, filter: Filter, watchers: ReadonlySet<Watcher>): Promise<void> {
    const never = new AbortController().signal;
    while (watchers.size > 0) {
      const startMs = performance.now();
      const hasMore = await round(filter, watchers).catch((error: unknown) => {
        // Everybody keeps the own place, so nothing is lost.
        log.debug({ err: error, propertyId: filter.propertyId }, "the live events could not be read");
        return false;
      });
      const spentMs = performance.now() - startMs;
      await pause(Math.max(frameIntervalMs, (hasMore ? frameIntervalMs : intervalMs) - spentMs), never);
    }
    feeds.delete(key);
  }

  return {
    watch(filter, watcher) {
      const { propertyId, type, profileId, source, withoutSystem } = filter;
      const key = JSON.stringify([propertyId, type, profileId, source, withoutSystem]);
      const known = feeds.get(key);
      const watchers = known ?? new Set();
      watchers.add(watcher);
      if (!known) {
        feeds.set(key, watchers);
        void run(key, filter, watchers);
      }
      return () => void watchers.delete(watcher);
    },
  };
}

function hasPlace([watcher]: readonly Watcher[]): boolean {
  return watcher?.position !== undefined;
}

/**
 * What a read of others is to a watcher at another place: nothing for one that begins now, and the later events for one
 * that is behind the place where the read began, if the read holds all of them.
 */
function joinedFrame(
  { before, frame }: { before: EventPosition; frame: Read },
  place: EventPosition | undefined,
): Read | undefined {
  const { position } = frame;
  if (!position) return undefined;
  if (!place) return { ...frame, events: [], skipped: 0n };
  const isWithin = comparePositions(before, place) <= 0 && comparePositions(place, position) <= 0;
  if (!isWithin || frame.skipped > 0n) return undefined;
  const events = frame.events.filter((event) => comparePositions(positionOf(event), place) > 0);
  return { ...frame, events, skipped: 0n };
}
