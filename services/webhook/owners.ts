/** Keys and installations that own endpoints: an endpoint ends with its owner. */
import { fromBinary } from "@bufbuild/protobuf";
import { KeyEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { repeat, type Repeated } from "#shared/scheduling/repeat.ts";
import { encodeId, nilUuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { scopesOfTypes } from "#shared/values/webhook-types.ts";
import type { WebhookContext } from "./context.ts";
import { disableEndpoint, type EndpointRow } from "./sql/endpoints.ts";
import { pageOwned, type OwnedRow } from "./sql/owners.ts";

// A signal that is lost, or comes before the change can be read, delays the end of an endpoint by this.
const lookIntervalMs = 2_000;
const callersMax = 1_000;
const callTimeoutMs = 5_000;

/** Whether the owner of an endpoint is there and may have its types; an endpoint of the property itself always is. */
export async function isOwnerGood(
  context: WebhookContext,
  row: Pick<EndpointRow, "property_id" | "owner_id" | "owner_kind" | "types" | "app_id">,
  types: readonly string[],
): Promise<boolean> {
  if (row.owner_id === null || row.owner_kind === null) return true;
  const wanted = types.length > 0 ? types : row.types;
  const owned = { ...row, id: nilUuid, owner_id: row.owner_id, owner_kind: row.owner_kind, types: [...wanted] };
  return (await findEnded(context, [owned])).length === 0;
}

/** Disables endpoints whose owner has ended, until it is closed. */
export function watchOwners(context: WebhookContext): Repeated {
  const { log, signals } = context;
  const looking = repeat(lookIntervalMs, log, "look for owners of endpoints that ended", async (signal) => {
    for (let after: OwnedRow | undefined; !signal.aborted;) {
      const place = [after?.property_id ?? nilUuid, after?.id ?? nilUuid] as const;
      const page = await pageOwned(context.database, [...place, callersMax]);
      for (const row of await findEnded(context, page)) await end(context, row);
      if (page.length < callersMax) return;
      after = page.at(-1);
    }
  });
  signals.subscribe(KeyEndingSchema.typeName, (payload) => {
    // A key that ends later is signalled too: the look finds that it has not ended yet.
    fromBinary(KeyEndingSchema, payload);
    looking.wake();
  });
  return looking;
}

async function end({ database, clock, settling }: WebhookContext, row: OwnedRow): Promise<void> {
  const now = formatMicros(clock.nowMicros());
  const disabled = await disableEndpoint(database, [row.property_id, row.id, "owner_ended", now]);
  if (disabled.length > 0) settling.wake();
}

async function findEnded({ identity }: WebhookContext, rows: readonly OwnedRow[]): Promise<OwnedRow[]> {
  if (rows.length === 0) return [];
  const callerOf = (row: OwnedRow): string => encodeId(row.owner_kind, row.owner_id);
  const callers = rows.map((row) => ({ propertyId: encodeId("prop", row.property_id), callerId: callerOf(row) }));
  const answer = await identity.describeCallers({ callers }, systemCall("webhook", callTimeoutMs));
  return rows.filter((row, index) => {
    const state = answer.callers[index];
    if (state?.callerId !== callerOf(row)) throw new Error("identity answered for another caller");
    if (!state.active) return true;
    const held = new Set(state.scopes);
    return !scopesOfTypes(row.types).every((scope) => held.has(scope));
  });
}
