import { fromBinary } from "@bufbuild/protobuf";
import { EventsRecordedSchema } from "#proto/daybook/event/v1/event_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { WebhookContext } from "../context.ts";
import { isTold, ofEvent } from "../happenings.ts";
import { fanOut, isWanted, subscribersOf } from "../fan-out.ts";
import { peekProperty } from "../domain/peek.ts";
import { link } from "../redaction.ts";

/** Makes messages of recorded events. A property without endpoints costs one look-up, and its events are not read. */
export function eventsRecorded(context: WebhookContext): BusHandler {
  return async (messages) => {
    const all = messages.map(({ payload }) => ({ payload, property: peekProperty(payload, 2) }));
    const subscribers = await subscribersOf(
      context,
      all.map(({ property }) => property),
    );
    for (const { payload, property } of all) {
      if (!isWanted(subscribers, property, ["event.recorded"])) continue;
      const told = fromBinary(EventsRecordedSchema, payload).events.filter(isTold);
      await fanOut(
        context,
        told.map((event) => ofEvent(property, event)),
        subscribers,
      );
      // After the messages are stored: an event that gains its profile meanwhile is seen here, or sees them.
      const anonymous = told.filter(({ profileId }) => profileId === undefined);
      await link(
        context,
        property,
        anonymous.map(({ id }) => decodeId("evt", id, "id")),
      );
    }
  };
}
