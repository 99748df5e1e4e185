/** Time as an integer of microseconds since 1970 in UTC: what PostgreSQL keeps, and exact as a double until 2255. */
export type Micros = number;

/** Where a service reads the time; tests put their own in its place. */
export interface Clock {
  /** Now, in microseconds since 1970. */
  nowMicros(): Micros;
}

/** The machine's clock. */
export const systemClock: Clock = {
  // performance.timeOrigin alone would not follow a clock that is set while the process runs.
  nowMicros: () => Date.now() * 1000 + Math.floor((performance.now() % 1) * 1000),
};
