/** Time as an integer of microseconds since 1970 in UTC: what PostgreSQL keeps, and exact as a double until 2255. */
export type Micros = number;

/** Where a service reads the time; tests put their own in its place. */
export interface Clock {
  /** Now, in microseconds since 1970. */
  nowMicros(): Micros;
}

/** The machine's clock; it goes back only when that is set back. */
export const systemClock: Clock = {
  // Date.now() has no microseconds, and performance.now() does not follow a clock that is set while the process runs.
  nowMicros: () => Number(Temporal.Now.instant().epochNanoseconds / 1000n),
};
