import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  RecordEventsResponseSchema,
  RecordEventResultSchema,
  type EventService,
  type RecordEventResult,
} from "#proto/daybook/event/v1/event_pb.ts";
import { DaybookError, toErrorMessage } from "#shared/errors.ts";
import { onwardOptions } from "#shared/interceptors.ts";
import { checkItemCount } from "#shared/limits.ts";
import type { EventContext } from "../context.ts";
import { readAsSurvivors } from "../profiles.ts";
import { record, type Outcome } from "../recording.ts";

const eventsMax = 1000;

export function recordEvents(context: EventContext): ServiceImpl<typeof EventService>["recordEvents"] {
  return async ({ propertyId, events, returnEvents }, handlerContext) => {
    checkItemCount(events.length, eventsMax, "events");
    const options = onwardOptions(handlerContext);
    const outcomes = await record(context, propertyId, events, options);
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
  return create(RecordEventResultSchema, {
    outcome: {
      case: "recorded",
      value: {
        eventId: event.id,
        replayed,
        ...(resolvedFrom === undefined ? {} : { resolvedFrom }),
        ...(returnEvents ? { event } : {}),
      },
    },
  });
}
