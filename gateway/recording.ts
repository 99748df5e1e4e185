/**
 * Records events. Single events of concurrent requests share RPCs (batcher.ts). Batches are sent as they are, in a
 * limited number at a time, with properties in rotation. A full queue answers 503, so that waiting times stay bounded.
 */
import type { Client } from "@connectrpc/connect";
import type { EventInput, EventService, RecordEventResult } from "#proto/daybook/event/v1/event_pb.ts";
import { createBatcher } from "#shared/scheduling/batcher.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { createFairShare } from "#shared/scheduling/fair-share.ts";
import { callOptions, type Call } from "#shared/rpc/interceptors.ts";

export interface Recording {
  /** Records one event. The result holds the whole event. */
  recordOne(propertyId: string, event: EventInput, call: Call): Promise<RecordEventResult>;
  /** Records 1 to 1,000 events. The results are in order and hold the ids. */
  recordBatch(propertyId: string, events: EventInput[], call: Call): Promise<RecordEventResult[]>;
  /** Waits until every call is answered. */
  drain(): Promise<void>;
}

const flushItemsMax = 1000;
const flushBytesMax = 2 * 1024 * 1024;
const flushesMax = 8;
const queueItemsMax = 10_000;
const batchesUnderWayMax = 8;
const batchesUnderWayPerPropertyMax = 4;
const batchesQueuedMax = 200;
const batchesQueuedPerPropertyMax = 100;
const batchWaitMsMax = 30_000;

export function createRecording(client: Client<typeof EventService>): Recording {
  const record = async (
    propertyId: string,
    events: EventInput[],
    returnEvents: boolean,
    call: Call,
  ): Promise<RecordEventResult[]> => {
    const response = client.recordEvents({ propertyId, events, returnEvents }, callOptions(call));
    return (await response).results;
  };

  const singles = createBatcher<{ event: EventInput; call: Call }, RecordEventResult>({
    flush(propertyId, items) {
      const [first] = items;
      if (!first) return Promise.resolve([]);
      const events = items.map(({ event }) => event);
      return record(propertyId, events, true, first.call);
    },
    sizeOf: ({ event }) => event.propertiesJson.length,
    flushItemsMax,
    flushSizeMax: flushBytesMax,
    flushesMax,
    overlaps: true,
    queueItemsMax,
    queueFull,
  });

  const batches = createFairShare({
    slotsMax: batchesUnderWayMax,
    slotsPerKeyMax: batchesUnderWayPerPropertyMax,
    waitingMax: batchesQueuedMax,
    waitingPerKeyMax: batchesQueuedPerPropertyMax,
    waitMsMax: batchWaitMsMax,
    refusal: queueFull,
  });

  return {
    async recordOne(propertyId, event, call) {
      const result = await singles.add(propertyId, { event, call });
      const recorded = result.outcome.case === "recorded" ? result.outcome.value.event : undefined;
      // The service leaves out the properties of a new event, because the gateway has them.
      if (recorded?.propertiesJson === "") recorded.propertiesJson = event.propertiesJson;
      return result;
    },
    recordBatch: (propertyId, events, call) => batches.run(propertyId, () => record(propertyId, events, false, call)),
    async drain() {
      await Promise.all([singles.drain(), batches.drain()]);
    },
  };
}

function queueFull(): DaybookError {
  const message = "More events are waiting than can be recorded. Try again in a second.";
  return new DaybookError("service_unavailable", message);
}
