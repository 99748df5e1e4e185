import type { OutboxRelay } from "#shared/outbox.ts";
import type { ServiceContext } from "#shared/service.ts";

/** What the RPCs of this service work with. */
export interface ProfileContext extends ServiceContext {
  relay: OutboxRelay;
}
