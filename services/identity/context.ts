/** What the identity service is made from beyond what every service is. */
import type { ServiceContext } from "#shared/process/service.ts";
import type { Signals } from "#shared/bus/signals.ts";

/** See above. */
export interface IdentityContext extends ServiceContext {
  /** Tells gateways what they are not to remember any longer. */
  signals: Signals;
}
