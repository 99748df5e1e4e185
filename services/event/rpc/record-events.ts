import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  RecordEventsResponseSchema,
  RecordEventResultSchema,
  type Event,
  type EventService,
  type RecordEventResult,
} from "#proto/daybook/event/v1/event_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { toErrorMessage } from "#shared/rpc/errors.ts";
import { createFairShare } from "#shared/scheduling/fair-share.ts";
import { onwardOptions } from "#shared/rpc/interceptors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import { overShare } from "#shared/database/reads.ts";
import type { EventContext } from "../context.ts";
import { readAsSurvivors } from "../attribution.ts";
import { ingest, type Outcome, type Stored } from "../ingest.ts";

const eventsMax = 1000;
// One property leaves a third of the connections to the others.
const writesPerPropertyShare = 2 / 3;
const writesWaitingMax = 500;
const writesWaitingPerPropertyMax = 100;
const writeWaitMsMax = 5_000;

export function recordEvents(context: EventContext): ServiceImpl<typeof EventService>["recordEvents"] {
  const connectionsMax = context.database.options.max;
  const share = createFairShare({
    slotsMax: connectionsMax,
    slotsPerKeyMax: Math.ceil(connectionsMax * writesPerPropertyShare),
    waitingMax: writesWaitingMax,
    waitingPerKeyMax: writesWaitingPerPropertyMax,
    waitMsMax: writeWaitMsMax,
    refusal: () => overShare("Too many writes of this property are waiting."),
  });
  return async ({ propertyId, events, returnEvents }, handlerContext) => {
    checkItemCount(events.length, eventsMax, "events");
    const property = decodeId("prop", propertyId, "property_id");
    const options = onwardOptions(handlerContext);
    const outcomes = await share.run(property, () => ingest(context, property, events, options));
    if (returnEvents) {
      const known = outcomes.flatMap((outcome) => ("isKnown" in outcome && outcome.isKnown ? [outcome.event] : []));
      await readAsSurvivors(context.profiles, propertyId, known, options);
    }
    return create(RecordEventsResponseSchema, { results: outcomes.map((outcome) => toResult(outcome, returnEvents)) });
  };
}

function toResult(outcome: Outcome, returnEvents: boolean): RecordEventResult {
  if (outcome instanceof DaybookError) {
    return create(RecordEventResultSchema, { outcome: { case: "error", value: toErrorMessage(outcome) } });
  }
  const { event, replayed, resolvedFrom } = outcome;
  const value = { eventId: event.id, replayed, resolvedFrom, event: returnEvents ? returned(outcome) : undefined };
  return create(RecordEventResultSchema, { outcome: { case: "recorded", value } });
}

/** The caller has the properties of a new event. */
function returned({ event, isKnown }: Stored): Event {
  return isKnown ? event : { ...event, propertiesJson: "" };
}
