/** Microseconds since 1970 in UTC, as PostgreSQL stores time. Integers are exact in a double until 2255. */
export type Micros = number;

/** The source of time, which tests replace. */
export interface Clock {
  /** Now, in microseconds since 1970. */
  nowMicros(): Micros;
}

/** The machine's clock. It goes back only when it is set back. */
export const systemClock: Clock = {
  // Date.now() has no microseconds, and performance.now() ignores changes of the clock while the process runs.
  nowMicros: () => Number(Temporal.Now.instant().epochNanoseconds / 1000n),
};
