/** How wrong passwords slow down those that follow. */
import type { Micros } from "#shared/values/clock.ts";

/**
 * What is counted: an email, from addresses where its member is not known; an email at an address where she is; and a
 * client address, whatever the emails.
 */
export type AttemptKind = "email" | "known" | "address";

/** So many wrong passwords bring the first delay. People share an address. */
const failuresMax: Readonly<Record<AttemptKind, number>> = { email: 10, known: 10, address: 30 };
const second = 1_000_000;
/** The longest that anybody waits for one more attempt. */
const delayMicrosMax = 15 * 60 * second;

/** Failures are forgotten this long after the last attempt. */
export const forgetAfterMicros = 6 * 60 * 60 * second;
/** So long after her last sign-in a member is known at an address. */
export const knownForMicros = 30 * 24 * 60 * 60 * second;

/** The delay after a number of failures in a row: 1 s once they are too many, then twice as much for each. */
export function delayAfter(kind: AttemptKind, failures: number): Micros {
  const over = failures - failuresMax[kind];
  return over < 0 ? 0 : Math.min(delayMicrosMax, second * 2 ** Math.min(over, 30));
}
