/** Notes how endpoints get on, for all processes: opens and closes breakers, and gives up on endpoints. */
import type { Database } from "#shared/database/postgres.ts";
import type { Log } from "#shared/process/log.ts";
import type { Clock, Micros } from "#shared/values/clock.ts";
import { encodeId, type Uuid } from "#shared/values/ids.ts";
import { formatMicros, type Instant } from "#shared/values/time.ts";
import { isGivenUp, nextPauseSeconds } from "../domain/breaker.ts";
import type { AttemptResult } from "../egress/attempt.ts";
import { noteFailures, noteSuccess, openBreaker, takeProbe, type FailingRow } from "../sql/health.ts";
import type { Lane } from "./lane.ts";

/** Disables an endpoint that is enabled, and what follows. */
export type DisableEndpoint = (property: Uuid, endpoint: Uuid, reason: "gone" | "failing") => Promise<void>;

export interface Health {
  /** Notes the outcome of an attempt. */
  note(lane: Lane, result: AttemptResult): void;
  /** Half-opens a breaker whose time is over, if no other process does. @returns whether this process may try once. */
  probe(lane: Lane): Promise<boolean>;
}

const gone = 410;
// A success that changes nothing else is written so often.
const successIntervalMicros = 5_000_000;

/** @param onChange is called when a breaker opened, or closed. */
export function createHealth(
  context: { database: Database; clock: Clock; log: Log; probeMs: number; disable: DisableEndpoint },
  onChange: (lane: Lane) => void,
): Health {
  const { database, clock, log, probeMs, disable } = context;

  async function writeFailures(lane: Lane, count: number, wasProbe: boolean): Promise<void> {
    const now = clock.nowMicros();
    const at = formatMicros(now);
    const [row] = await noteFailures(database, [lane.property, lane.id, count, at, at.slice(0, 10)]);
    if (!row) return;
    if (lane.state) lane.state.failures = row.failures;
    if (isGivenUp(row, now)) return disable(lane.property, lane.id, "failing");
    if (wasProbe || lane.window.shouldOpen(row.failures)) await open(lane, row, now, wasProbe);
  }

  async function open(lane: Lane, row: FailingRow, now: Micros, wasProbe: boolean): Promise<void> {
    const isOpen = row.paused_until !== null && row.paused_until > now && !wasProbe;
    const seconds = nextPauseSeconds(row.paused_until === null ? null : row.pause_seconds);
    const until = isOpen ? (row.paused_until as Micros) : now + seconds * 1_000_000;
    // Before it is written, so that no attempt begins meanwhile.
    if (lane.state) lane.state.pausedUntil = until;
    lane.window.clear();
    if (!isOpen) await openBreaker(database, [lane.property, lane.id, formatMicros(until), seconds]);
    log.debug(
      { endpoint: encodeId("hook", lane.id), until: formatMicros(until) },
      "the breaker of an endpoint is open",
    );
    onChange(lane);
  }

  async function write(lane: Lane): Promise<void> {
    const { notes } = lane;
    const { hasSuccess, failures, wasProbe } = notes;
    [notes.hasSuccess, notes.failures, notes.wasProbe] = [false, 0, false];
    const now = clock.nowMicros();
    if (hasSuccess) {
      await noteSuccess(database, [lane.property, lane.id, formatMicros(now)]);
      notes.successNotedAt = now;
    }
    if (failures > 0) await writeFailures(lane, failures, wasProbe);
  }

  async function writeAll(lane: Lane): Promise<void> {
    lane.notes.isNoting = true;
    try {
      while (lane.notes.hasSuccess || lane.notes.failures > 0) await write(lane);
    } catch (error) {
      // An endpoint that was deleted meanwhile has no health either.
      if ((error as { code?: unknown }).code !== "23503") log.warn({ err: error }, "how endpoints get on is not noted");
    } finally {
      lane.notes.isNoting = false;
    }
  }

  function noteOne(lane: Lane, { error }: AttemptResult, now: Micros): void {
    const { notes, state } = lane;
    if (error !== null) {
      notes.failures++;
      return;
    }
    const isNews = notes.failures > 0 || notes.isNoting || (state?.failures ?? 0) > 0 || state?.pausedUntil !== null;
    notes.failures = 0;
    if (isNews || now - notes.successNotedAt > successIntervalMicros) notes.hasSuccess = true;
    if (!state || !isNews) return;
    state.failures = 0;
    if (state.pausedUntil === null) return;
    state.pausedUntil = null;
    lane.window.clear();
    onChange(lane);
  }

  return {
    note(lane, result) {
      lane.notes.wasProbe ||= lane.isProbing;
      lane.isProbing = false;
      noteOne(lane, result, clock.nowMicros());
      if (result.status === gone) void disableGone(lane);
      if (!lane.notes.isNoting) void writeAll(lane);
    },
    async probe(lane) {
      const now = clock.nowMicros();
      const until = now + probeMs * 1000;
      const [at, end]: Instant[] = [formatMicros(now), formatMicros(until)];
      const [row] = await takeProbe(database, [lane.property, lane.id, at as Instant, end as Instant]);
      if (lane.state) lane.state.pausedUntil = until;
      lane.isProbing = row !== undefined;
      return lane.isProbing;
    },
  };

  async function disableGone(lane: Lane): Promise<void> {
    await disable(lane.property, lane.id, "gone").catch((error: unknown) =>
      log.warn({ err: error }, "an endpoint that is gone cannot be disabled"),
    );
  }
}
