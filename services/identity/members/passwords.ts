/**
 * Derives hashes of passwords. Each takes 19 MiB and 50 ms of a processor, so few run at once, client addresses share
 * them fairly, and what would wait for too long is refused.
 */
import { Counter, type Registry } from "prom-client";
import { metricOf } from "#shared/process/metrics.ts";
import { createFairShare } from "#shared/scheduling/fair-share.ts";
import { clientOf } from "#shared/values/client-address.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { hashOfNothing, hashPassword, isPassword, normalPassword } from "../domain/password.ts";

export interface Passwords {
  /**
   * Derives what is stored of a new password.
   * @param address the caller's.
   * @throws DaybookError `rate_limited` when too many wait.
   */
  hash(password: string, address: string): Promise<string>;
  /**
   * Whether a text is the password of a member. Without a hash it is wrong, at the same cost.
   * @throws DaybookError `rate_limited` when too many wait.
   */
  verify(text: string, stored: string | null | undefined, address: string): Promise<boolean>;
}

// Of the 4 threads that Node has for such work.
const slotsMax = 2;
const waitingMax = 100;
const waitingPerAddressMax = 10;
const waitMsMax = 5_000;
const retryAfterMs = 2_000;

export function createPasswords(registry: Registry): Passwords {
  const derived = metricOf(registry, Counter, {
    name: "daybook_password_hashes_total",
    help: "Hashes of passwords that were derived, for sign-ins of members.",
  });
  const nothing = hashOfNothing();
  const share = createFairShare({
    slotsMax,
    slotsPerKeyMax: slotsMax,
    waitingMax,
    waitingPerKeyMax: waitingPerAddressMax,
    waitMsMax,
    refusal: () =>
      new DaybookError("rate_limited", "Too many passwords are being checked. Try again soon.", { retryAfterMs }),
  });
  const derive = <T>(address: string, work: () => Promise<T>): Promise<T> =>
    share.run(clientOf(address), () => {
      derived.inc();
      return work();
    });
  return {
    hash: (password, address) => derive(address, () => hashPassword(password)),
    async verify(text, stored, address) {
      const password = normalPassword(text);
      // What no password can be is wrong for every email, so it needs no work.
      if (password === undefined) return false;
      return derive(address, () => isPassword(password, stored ?? nothing));
    },
  };
}
