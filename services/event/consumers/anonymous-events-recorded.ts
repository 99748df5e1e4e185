import { fromBinary } from "@bufbuild/protobuf";
import { AnonymousEventsRecordedSchema } from "#proto/daybook/event/v1/event_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { EventContext } from "../context.ts";
import { link } from "../attribution.ts";
import { findAnonymous } from "../sql/profile-events.ts";

/**
 * Resolves anonymous events again after they were stored. A profile may have gained the identifier between their first
 * resolution and their insert, and then the message about that came too early to link them.
 */
export function anonymousEventsRecorded(context: EventContext): BusHandler {
  const { database } = context;
  return async (payloads) => {
    const messages = payloads.map(({ payload }) => fromBinary(AnonymousEventsRecordedSchema, payload));
    for (const { propertyId, eventIds } of messages) {
      const property = decodeId("prop", propertyId, "property_id");
      const ids = eventIds.map((id) => decodeId("evt", id, "event_ids"));
      const identifiers = await findAnonymous(database, [property, ids]);
      await link(context, property, identifiers);
    }
  };
}
