/**
 * Replays: what happened in a span of time, sent to an endpoint again. A replay goes on page by page; a page and its
 * place are one transaction, and ids of deliveries are derived, so that it survives the end of a process at any
 * instant.
 */
import { EventSort, type Event } from "#proto/daybook/event/v1/event_pb.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { withTransaction, type Transaction } from "#shared/database/postgres.ts";
import { repeat, type Repeated } from "#shared/scheduling/repeat.ts";
import { decodeId, deriveUuid, encodeId, nilUuid, type Uuid } from "#shared/values/ids.ts";
import { formatMicros, parseDateTime, toTimestamp } from "#shared/values/time.ts";
import type { WebhookContext } from "./context.ts";
import { deliveryIdOf, wants, type Happening } from "./domain/happening.ts";
import { isOfEvents, typesFromStore } from "./domain/replay.ts";
import { newBatch } from "./fan-out.ts";
import { isTold, ofEvent, ofSystemEvent } from "./happenings.ts";
import { readEndpoint, type EndpointRow } from "./sql/endpoints.ts";
import { readProperty } from "./sql/properties.ts";
import * as sql from "./sql/replays.ts";

type Row = sql.ReplayRow;

const lookIntervalMs = 2_000;
const replaysMax = 100;
const pageRowsMax = 500;
const callTimeoutMs = 30_000;
/** The most messages of a replay. */
export const replayMessagesMax = 100_000;

/** Carries out replays, until it is closed. */
export function carryOutReplays(context: WebhookContext): Repeated {
  const { database, log } = context;
  return repeat(lookIntervalMs, log, "carry out replays", async (signal) => {
    for (let more = true; more && !signal.aborted;) {
      more = false;
      // A page of each, so that a long one holds up no other.
      for (const { property_id: property, id } of await sql.findProcessing(database, [nilUuid, replaysMax])) {
        if (!signal.aborted && (await step(context, property, id))) more = true;
      }
    }
  });
}

/** What a page comes to. */
interface Page {
  position: sql.ReplayPosition | null;
  status: Row["status"];
  store: (tx: Transaction) => Promise<number>;
}

/** Does a page of a replay. @returns whether it can go on at once. */
async function step(context: WebhookContext, property: Uuid, id: Uuid): Promise<boolean> {
  const { database, clock } = context;
  const [replay] = await sql.readReplay(database, [property, id]);
  if (replay?.status !== "processing") return false;
  const [endpoint] = await readEndpoint(database, [property, replay.endpoint_id]);
  const isOver = endpoint?.status !== "enabled" || replay.deliveries >= replayMessagesMax;
  const page = isOver || !endpoint ? cancelled(replay) : await readPage(context, replay, endpoint);
  if (!page) return false;
  const now = formatMicros(clock.nowMicros());
  const made = await withTransaction(database, async (tx) => {
    const count = await page.store(tx);
    const place = [property, id, replay.position, page.position, page.status] as const;
    const advanced = await sql.advanceReplay(tx, [...place, now, count]);
    // Another process did this page.
    if (advanced.length === 0) throw new FasterProcess();
    return count;
  }).catch((error: unknown) => {
    if (error instanceof FasterProcess) return undefined;
    throw error;
  });
  if (made) context.deliveriesDue(property, new Set([replay.endpoint_id]));
  return made !== undefined && page.status === "processing";
}

class FasterProcess extends Error {}

function cancelled({ position }: Row): Page {
  return { position, status: "cancelled", store: () => Promise.resolve(0) };
}

/** @returns undefined while not everything of the span is on record yet. */
async function readPage(context: WebhookContext, replay: Row, endpoint: EndpointRow): Promise<Page | undefined> {
  if (replay.position?.phase !== "messages") {
    if (replay.types.some(isOfEvents)) return readEvents(context, replay, endpoint);
    return { position: firstMessage(replay), status: "processing", store: () => Promise.resolve(0) };
  }
  return readMessages(context, replay, endpoint);
}

function firstMessage({ starts_at: startsAt }: Row): sql.ReplayPosition {
  return { phase: "messages", time: formatMicros(startsAt), id: nilUuid };
}

async function readEvents(context: WebhookContext, replay: Row, endpoint: EndpointRow): Promise<Page | undefined> {
  const { property_id: property, position } = replay;
  const propertyId = encodeId("prop", property);
  const options = systemCall("webhook", callTimeoutMs);
  // Before the events are read, so that all of them up to the watermark are seen.
  const { recordedUpTo } = await context.events.getWatermark({ propertyId }, options);
  const { events, hasMore } = await context.events.listEvents(
    {
      propertyId,
      receivedAt: { gte: toTimestamp(replay.starts_at), lt: toTimestamp(replay.ends_at) },
      sort: EventSort.RECEIVED_AT,
      ascending: true,
      limit: pageRowsMax,
      ...(position && { after: { time: timestampOf(position.time), eventId: encodeId("evt", position.id) } }),
    },
    options,
  );
  const last = events.at(-1);
  const isWhole = recordedUpTo !== undefined && Number(recordedUpTo.seconds) * 1_000_000 >= replay.ends_at;
  if (!last && !isWhole) return undefined;
  const happenings = events.flatMap((event) => happeningOf(property, event) ?? []);
  const [known] = await readProperty(context.database, [property]);
  return {
    position:
      last?.receivedAt && (hasMore || !isWhole)
        ? { phase: "events", time: formatMicros(microsOf(last)), id: decodeId("evt", last.id, "id") }
        : firstMessage(replay),
    status: "processing",
    store: (tx) => storeHappenings({ context, tx, replay, endpoint }, happenings, known?.livemode === true),
  };
}

function happeningOf(property: Uuid, event: Event): Happening | undefined {
  return isTold(event) ? ofEvent(property, event) : ofSystemEvent(property, event);
}

interface Storing {
  context: WebhookContext;
  tx: Transaction;
  replay: Row;
  endpoint: EndpointRow;
}

async function storeHappenings(storing: Storing, happenings: readonly Happening[], livemode: boolean): Promise<number> {
  const { context, tx, replay, endpoint } = storing;
  // What the endpoint does not want any more is not sent.
  const wanted = happenings.filter((one) => replay.types.includes(one.type) && wants(endpoint, one));
  const ids = await idsOf(
    storing,
    wanted.map(({ id }) => id),
  );
  let count = 0;
  const batch = newBatch({ database: tx, clock: context.clock }, replay.property_id, {
    onMade: (made) => (count += made.length),
  });
  for (const happening of wanted) {
    const id = ids.get(happening.id);
    if (id) await batch.add(happening, livemode, endpoint.revision, [{ id, endpoint: endpoint.id }], "replay");
  }
  await batch.store();
  return count;
}

/**
 * The delivery to make of each message. If only those that were not delivered are wanted, a message that was never sent
 * gets the delivery that it would have had as it happened: should that be under way, it is made once.
 */
async function idsOf({ tx, replay, endpoint }: Storing, messages: readonly Uuid[]): Promise<Map<Uuid, Uuid>> {
  const own = (message: Uuid): Uuid => deriveUuid(message, replay.id);
  if (!replay.only_failed) return new Map(messages.map((message) => [message, own(message)]));
  const rows = await sql.findDeliveries(tx, [replay.property_id, endpoint.id, messages]);
  const byMessage = Map.groupBy(rows, ({ message_id: message }) => message);
  return new Map(
    messages.flatMap((message) => {
      const made = byMessage.get(message) ?? [];
      if (made.some(({ status }) => status === "delivered" || status === "pending")) return [];
      const live = deliveryIdOf(message, endpoint.id);
      return [[message, made.some(({ id }) => id === live) ? own(message) : live]];
    }),
  );
}

/** Messages of the other types, which are stored for 30 days. */
async function readMessages(context: WebhookContext, replay: Row, endpoint: EndpointRow): Promise<Page> {
  const { property_id: property, position } = replay;
  const types = replay.types.filter((type) => typesFromStore.has(type));
  const { time, id } = position ?? firstMessage(replay);
  const bounds = [formatMicros(replay.starts_at), formatMicros(replay.ends_at)] as const;
  const rows =
    types.length === 0
      ? []
      : await sql.pageStored(context.database, [property, types, ...bounds, time, id, pageRowsMax]);
  const wanted = await passingFilter(
    context,
    endpoint,
    rows.filter((row) => !isAbout(row, endpoint)),
  );
  const last = rows.at(-1);
  const isLast = !last || rows.length < pageRowsMax;
  return {
    position: last ? { phase: "messages", time: formatMicros(last.created_at), id: last.id } : position,
    status: isLast ? "complete" : "processing",
    async store(tx) {
      const storing = { context, tx, replay, endpoint };
      const byMessage = Map.groupBy(wanted, (row) => row.id);
      const ids = await idsOf(storing, [...byMessage.keys()]);
      const deliveries = [...ids].map(([message, delivery]) => {
        const forms = byMessage.get(message) ?? [];
        const form = forms.find(({ revision }) => revision === endpoint.revision) ?? forms[0];
        return {
          id: delivery,
          endpoint_id: endpoint.id,
          message_id: message,
          revision: form?.revision ?? endpoint.revision,
          type: form?.type ?? "",
        };
      });
      const now = formatMicros(context.clock.nowMicros());
      return (await sql.storeDeliveries(tx, [property, now, deliveries])).length;
    },
  };
}

/** An endpoint is not told of itself. */
function isAbout({ body }: sql.StoredRow, endpoint: EndpointRow): boolean {
  return body !== null && body.includes(`"data":{"id":"${encodeId("hook", endpoint.id)}"`);
}

/** The filter of an endpoint looks at the type and source of an event, which are stored with the event. */
async function passingFilter(
  { events }: WebhookContext,
  endpoint: EndpointRow,
  rows: readonly sql.StoredRow[],
): Promise<readonly sql.StoredRow[]> {
  const ofEvents = rows.flatMap(({ event_id: id }) => (id === null ? [] : [id]));
  if (ofEvents.length === 0 || (endpoint.event_types.length === 0 && endpoint.sources.length === 0)) return rows;
  const request = {
    propertyId: encodeId("prop", endpoint.property_id),
    eventIds: [...new Set(ofEvents)].map((id) => encodeId("evt", id)),
  };
  const found = await events.getEvents(request, systemCall("webhook", callTimeoutMs));
  const passing = new Set(
    found.events
      .map((event) => ({ ...ofEvent(endpoint.property_id, event), type: "event.linked" as const }))
      .flatMap((happening) => (wants(endpoint, happening) ? [happening.eventId] : [])),
  );
  return rows.filter(({ event_id: id }) => id === null || passing.has(id));
}

function microsOf({ receivedAt }: Event): number {
  if (!receivedAt) throw new Error("an event lacks a time");
  return Number(receivedAt.seconds) * 1_000_000 + Math.floor(receivedAt.nanos / 1000);
}

function timestampOf(instant: string) {
  return toTimestamp(parseDateTime(instant));
}
