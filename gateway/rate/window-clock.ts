/**
 * The clock of rate windows. Windows begin with the minutes of the identity service's clock, so that all gateways
 * agree. A gateway corrects its own clock when an answer of the service proves it wrong.
 */
import type { Clock, Micros } from "#shared/values/clock.ts";
import { windowSeconds } from "./limits.ts";

export interface WindowClock {
  /** The current window as minutes since 1970, and the seconds left of it. */
  now(): { number: number; resetSeconds: number };
  /** Call before a request to identity; call the returned function with the service's time from the answer. */
  ask(): (serviceNow: Micros) => void;
}

const windowMicros = windowSeconds * 1_000_000;

export function startOfWindow(number: number): Micros {
  return number * windowMicros;
}

/** The window that an instant lies in. */
export function windowAt(start: Micros): number {
  return Math.floor(start / windowMicros);
}

export function createWindowClock(clock: Clock): WindowClock {
  let offset = 0;
  return {
    now() {
      const micros = clock.nowMicros() + offset;
      const number = windowAt(micros);
      return { number, resetSeconds: Math.ceil((startOfWindow(number + 1) - micros) / 1_000_000) };
    },
    ask() {
      const sent = clock.nowMicros();
      return (serviceNow) => {
        const received = clock.nowMicros();
        // The service read its clock between sending and receiving, which bounds the offset. The offset changes only as
        // far as necessary, so a clock that may be right is not corrected, however long the answer took.
        const [min, max] = [serviceNow - received, serviceNow - sent];
        if (min <= max) offset = Math.min(max, Math.max(min, offset));
      };
    },
  };
}
