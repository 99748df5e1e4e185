import { fromBinary } from "@bufbuild/protobuf";
import { EventsLinkedSchema } from "#proto/daybook/event/v1/event_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { WebhookContext } from "../context.ts";
import { fanOut } from "../fan-out.ts";
import { ofLinked } from "../happenings.ts";
import { peekProperty } from "../domain/peek.ts";
import { knownProperties } from "../properties.ts";
import { link } from "../redaction.ts";
import { noteLinked } from "../sql/persons.ts";

/** Makes messages of anonymous events that gained their profile, and gives messages of these events the profile. */
export function eventsLinked(context: WebhookContext): BusHandler {
  const { database, clock } = context;
  return async (messages) => {
    const all = messages.map(({ payload }) => ({ payload, property: peekProperty(payload, 1) }));
    const known = await knownProperties(
      database,
      all.map(({ property }) => property),
    );
    for (const { payload, property } of all) {
      if (!known.has(property)) continue;
      const { profileId, events } = fromBinary(EventsLinkedSchema, payload);
      // An older release does not name them.
      const named = events.filter(({ eventId }) => eventId !== "");
      if (named.length === 0) continue;
      const now = clock.nowMicros();
      const profile = decodeId("prof", profileId, "profile_id");
      const links = named.map(({ eventId }) => ({
        event_id: decodeId("evt", eventId, "event_id"),
        profile_id: profile,
      }));
      await noteLinked(database, [property, formatMicros(now), links]);
      await link(
        context,
        property,
        links.map((one) => one.event_id),
      );
      await fanOut(
        context,
        named.map((event) => ofLinked(property, { ...event, profileId }, now)),
      );
    }
  };
}
