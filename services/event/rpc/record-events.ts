import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  RecordEventsResponseSchema,
  RecordEventResultSchema,
  type Event,
  type EventInput,
  type EventService,
  type RecordEventsRequest,
  type RecordEventsResponse,
  type RecordEventResult,
} from "#proto/daybook/event/v1/event_pb.ts";
import type { ProfileResolution } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Micros } from "#shared/clock.ts";
import { DaybookError, fromErrorMessage, toErrorMessage } from "#shared/errors.ts";
import { decodeId } from "#shared/ids.ts";
import { calling, onwardOptions } from "#shared/interceptors.ts";
import { checkItemCount } from "#shared/limits.ts";
import type { EventContext } from "../context.ts";
import { findHeldEvents, firstOfEachKey, type HeldEvent } from "../dedupe.ts";
import { prepareEvent, type PreparedEvent } from "../domain/prepare.ts";
import { checkHeld } from "../floor.ts";
import { readAsSurvivors } from "../profiles.ts";
import { recordEvents as record, type Recordable } from "../recorder.ts";

const eventsMax = 1000;
// An item that is not first with its keys has its turn after those that are. More turns take another process that claims the same keys.
const turnsMax = 10;

/** An item on its way: whatever is decided of it stands in `outcome`. */
interface Item {
  input: EventInput;
  prepared: PreparedEvent;
  resolvedFrom?: string;
  outcome?: Event | HeldEvent | DaybookError;
}

export function recordEvents(context: EventContext): ServiceImpl<typeof EventService>["recordEvents"] {
  const { database, clock, profiles, relay, floor } = context;

  return async (request, handlerContext) => {
    checkItemCount(request.events.length, eventsMax, "events");
    relay.checkRoom();
    const property = decodeId("prop", request.propertyId, "property_id");
    return floor.hold((now) => recordAll(property, request, handlerContext, now));
  };

  async function recordAll(
    property: string,
    request: RecordEventsRequest,
    handlerContext: HandlerContext,
    now: Micros,
  ): Promise<RecordEventsResponse> {
    const results = request.events.map((input) => prepare(input, now));
    const items = results.filter((result): result is Item => !(result instanceof DaybookError));

    await replay(property, items, now);
    let open = await resolve(request.propertyId, items.filter(isOpen), handlerContext);
    for (let turn = 1; open.size > 0; turn++) {
      if (turn > turnsMax) throw new Error("keys kept changing hands");
      const first = new Set(firstOfEachKey([...open.values()]));
      await recordOnce(property, new Map([...open].filter(([, recordable]) => first.has(recordable))), now);
      await replay(property, [...open.keys()].filter(isOpen), now);
      open = new Map([...open].filter(([item]) => isOpen(item)));
    }
    const replays = items.flatMap(({ outcome }) => (outcome && "otherItem" in outcome ? [outcome.event] : []));
    if (request.returnEvents) {
      await readAsSurvivors(profiles, request.propertyId, replays, onwardOptions(handlerContext));
    }
    return create(RecordEventsResponseSchema, {
      results: results.map((result) => toResult(result, request.returnEvents)),
    });
  }

  /** Settles the items whose keys are held already. */
  async function replay(property: string, items: readonly Item[], now: Micros): Promise<void> {
    const prepared = items.map((item) => item.prepared);
    for (const [index, event] of (await findHeldEvents(database, property, prepared, now)).entries()) {
      const item = items[index];
      if (item && event) item.outcome = event.otherItem ? keyReused() : event;
    }
  }

  /** Records items, settling those that get all of their keys. */
  async function recordOnce(property: string, recordables: Map<Item, Recordable>, now: Micros): Promise<void> {
    checkHeld(clock, now);
    const events = await record(database, property, [...recordables.values()], now);
    relay.wake();
    for (const [index, item] of [...recordables.keys()].entries()) {
      const event = events[index];
      if (event) item.outcome = event;
    }
  }

  /** Finds out whose the items are, settling those of nobody that exists. */
  async function resolve(
    propertyId: string,
    items: readonly Item[],
    handlerContext: HandlerContext,
  ): Promise<Map<Item, Recordable>> {
    const recordables = new Map<Item, Recordable>();
    if (items.length === 0) return recordables;
    const references = items.map(({ input }) => input.profile ?? {});
    const { resolutions } = await calling(
      profiles.resolveProfiles({ propertyId, references }, onwardOptions(handlerContext)),
    );
    for (const [index, item] of items.entries()) {
      const resolution = resolutions[index];
      if (!resolution) throw new Error("a reference was not answered");
      const profile = toProfileFields(resolution);
      if (profile instanceof DaybookError) item.outcome = profile;
      else recordables.set(item, { ...item.prepared, ...profile });
      if (resolution.outcome.case === "profile" && resolution.outcome.value.resolvedFrom !== undefined) {
        item.resolvedFrom = resolution.outcome.value.resolvedFrom;
      }
    }
    return recordables;
  }
}

function prepare(input: EventInput, now: Micros): Item | DaybookError {
  try {
    return { input, prepared: prepareEvent(input, now) };
  } catch (error) {
    if (error instanceof DaybookError) return error;
    throw error;
  }
}

function isOpen(item: Item): boolean {
  return item.outcome === undefined;
}

function toProfileFields({ outcome }: ProfileResolution): Pick<Recordable, "profileId" | "identifier"> | DaybookError {
  switch (outcome.case) {
    case "profile":
      return { profileId: decodeId("prof", outcome.value.profileId, "profile_id"), identifier: null };
    case "unmatched":
      return { profileId: null, identifier: outcome.value };
    case "error":
      return fromErrorMessage(outcome.value);
    default:
      throw new Error("a reference has no outcome");
  }
}

function toResult(result: Item | DaybookError, returnEvents: boolean): RecordEventResult {
  const outcome = result instanceof DaybookError ? result : result.outcome;
  if (outcome === undefined) throw new Error("an item was not settled");
  if (outcome instanceof DaybookError) {
    return create(RecordEventResultSchema, { outcome: { case: "error", value: toErrorMessage(outcome) } });
  }
  const replayed = "otherItem" in outcome;
  const event = replayed ? outcome.event : outcome;
  const resolvedFrom = result instanceof DaybookError ? undefined : result.resolvedFrom;
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

function keyReused(): DaybookError {
  const message = "This idempotency_key was used for another event.";
  return new DaybookError("idempotency_key_reused", message, { param: "idempotency_key" });
}
