/** Rate limits of endpoints: all processes together take the messages of a second from one row. */
import type { Database } from "#shared/database/postgres.ts";
import type { Log } from "#shared/process/log.ts";
import type { Clock } from "#shared/values/clock.ts";
import { takeTokens } from "../sql/health.ts";
import type { Lane } from "./lane.ts";

export interface Rates {
  /** Whether an endpoint may be sent a message now, which counts then. If not, the lane is considered when it may. */
  mayStart(lane: Lane): boolean;
}

const secondMs = 1_000;

export function createRates(
  { database, clock, log }: { database: Database; clock: Clock; log: Log },
  consider: (lane: Lane) => void,
): Rates {
  async function ask(lane: Lane, second: number, limit: number): Promise<void> {
    const { tokens } = lane;
    tokens.isAsking = true;
    const wanted = Math.min(limit, lane.queue.length);
    try {
      const take = () => takeTokens(database, [lane.property, lane.id, second, wanted, limit]);
      const [first] = await take();
      // The first time makes the row.
      const row = first ?? (await take())[0];
      [tokens.second, tokens.left] = [second, row?.taken ?? 0];
    } catch (error) {
      log.warn({ err: error }, "the rate limit of an endpoint cannot be read");
      [tokens.second, tokens.left] = [second, 0];
    } finally {
      tokens.isAsking = false;
      later(lane, tokens.left > 0 ? 0 : untilNextSecond());
    }
  }

  const untilNextSecond = (): number => secondMs - ((clock.nowMicros() / 1000) % secondMs);

  function later(lane: Lane, ms: number): void {
    setTimeout(() => consider(lane), ms).unref();
  }

  return {
    mayStart(lane) {
      const limit = lane.state?.ratePerSecond ?? null;
      if (limit === null) return true;
      const { tokens } = lane;
      const second = Math.floor(clock.nowMicros() / 1_000_000);
      if (tokens.isAsking) return false;
      if (tokens.second !== second) {
        void ask(lane, second, limit);
        return false;
      }
      const nowMs = performance.now();
      if (tokens.left === 0) return false;
      if (nowMs < tokens.nextMs) {
        later(lane, tokens.nextMs - nowMs);
        return false;
      }
      tokens.left--;
      // Spread over the second, so that no burst comes at its begin.
      tokens.nextMs = Math.max(nowMs, tokens.nextMs + secondMs / limit);
      if (tokens.left === 0) later(lane, untilNextSecond());
      return true;
    },
  };
}
