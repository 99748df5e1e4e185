/**
 * The clock of rate windows. Windows begin with the minutes of the identity service's clock, so that all gateways mean the same by them. A
 * gateway whose own clock cannot be right, by what an answer of the service says of the time, goes by the service's from then on.
 */
import type { Clock, Micros } from "#shared/values/clock.ts";
import { windowSeconds } from "./limits.ts";

/** See above. */
export interface WindowClock {
  /** The window that is now, counted from 1970, and how much of it is left. */
  now(): { number: number; resetSeconds: number };
  /** Notes the time; what it returns is to be told what the service said the time was, once its answer has come. */
  ask(): (serviceNow: Micros) => void;
}

const windowMicros = windowSeconds * 1_000_000;

/** When a window begins. */
export function startOfWindow(number: number): Micros {
  return number * windowMicros;
}

/** The window that begins at an instant. */
export function windowAt(start: Micros): number {
  return Math.floor(start / windowMicros);
}

export function createWindowClock(clock: Clock): WindowClock {
  // What is added to the clock of this machine.
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
        // The service read its clock between the two, so the difference of the clocks lies within these bounds. It is moved only as far as it
        // must be: clocks that agree are left alone, however long the answer was on its way.
        const [min, max] = [serviceNow - received, serviceNow - sent];
        if (min <= max) offset = Math.min(max, Math.max(min, offset));
      };
    },
  };
}
