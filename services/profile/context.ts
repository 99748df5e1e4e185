import type { OutboxRelay } from "#shared/outbox/outbox.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import type { AttributeSchemas } from "./attribute-schemas.ts";

/** Dependencies of the RPCs and jobs of this service. */
export interface ProfileContext extends ServiceContext {
  relay: OutboxRelay;
  schemas: AttributeSchemas;
  /** How long after a redaction the last sweep announces it again. */
  redactionSweepSeconds: number;
}
