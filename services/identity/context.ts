/** Dependencies of the identity service beyond the common ones. */
import type { ServiceContext } from "#shared/process/service.ts";
import type { Signals } from "#shared/bus/signals.ts";

export interface IdentityContext extends ServiceContext {
  /** Broadcasts which cached keys are outdated. */
  signals: Signals;
}
