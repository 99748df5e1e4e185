/** Microseconds since 1970 in UTC, as PostgreSQL stores time. Integers are exact in a double until 2255. */
export type Micros = number;

/** The source of time, which tests replace. */
export interface Clock {
  /** Now, in microseconds since 1970. */
  nowMicros(): Micros;
}

/** The clocks of a machine. */
export interface MachineClocks {
  /** The time in microseconds, which may be set. It takes eight times as long to read as the others. */
  wallMicros: () => Micros;
  /** The same in whole milliseconds. */
  wallMs: () => number;
  /** Microseconds since some instant, which nobody can set. */
  runningMicros: () => number;
}

const machineClocks: MachineClocks = {
  wallMicros: () => Number(Temporal.Now.instant().epochNanoseconds / 1000n),
  wallMs: () => Date.now(),
  runningMicros: () => Math.floor(performance.now() * 1000),
};

/**
 * Makes a clock that is less than a millisecond off that of the machine. It goes back only when that one is set back,
 * by a millisecond or more.
 */
export function createSystemClock({ wallMicros, wallMs, runningMicros }: MachineClocks = machineClocks): Clock {
  let offset = wallMicros() - runningMicros();
  let last = Number.NEGATIVE_INFINITY;
  return {
    nowMicros() {
      let now = runningMicros() + offset;
      if (Math.floor(now / 1000) !== wallMs()) {
        // It was set, or the two do not run alike, or a millisecond began between reading them.
        now = wallMicros();
        offset = now - runningMicros();
      }
      last = last - now < 1000 ? Math.max(last, now) : now;
      return last;
    },
  };
}

/** The machine's clock. */
export const systemClock: Clock = createSystemClock();
