import type { OutboxRelay } from "#shared/outbox/outbox.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import type { AttributeSchemas } from "./attribute-schemas.ts";

/** What the RPCs of this service work with. */
export interface ProfileContext extends ServiceContext {
  relay: OutboxRelay;
  schemas: AttributeSchemas;
}
