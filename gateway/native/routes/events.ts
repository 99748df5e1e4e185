import { EventSort, type Event as EventMessage } from "#proto/daybook/event/v1/event_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { fromErrorMessage } from "#shared/rpc/errors.ts";
import { isJsonObject } from "#shared/json/json.ts";
import { quoteName } from "#shared/values/wording.ts";
import { eventJson, type EventExpansion } from "#shared/wire/events.ts";
import { fromGuideEvent, toEventInput, toGuideEventError } from "../convert/events.ts";
import { metricJson } from "#shared/wire/metrics.ts";
import { profileJson } from "../convert/profiles.ts";
import { answerData } from "../envelope.ts";
import type { NativeExchange } from "../exchange.ts";
import { exampleEvent, exampleIds, exampleProfile } from "../examples.ts";
import { idFilter } from "../filters.ts";
import { operation, route } from "../operation.ts";
import { openPage, readPlace, writePlace } from "../paging.ts";
import { resolvedMeta } from "../profile.ts";
import { Event } from "../resources.ts";
import { EventCreate, GuideEventCreate } from "../schemas.ts";
import { readRelated } from "../../surface/related.ts";
import { createEitherReader } from "../../validation.ts";

const expands = {
  profile: "The profile; needs the scope profiles:read",
  metric: "The metric; needs the scope metrics:read",
};

const create = operation("events:write", {
  id: "createEvent",
  tag: "Events",
  summary: "Record an event",
  description:
    "Answered once it is on disk. An email or phone that nobody has makes a profile. A dedupe_id that was seen " +
    "within 48 hours gives the first event again.",
  body: createEitherReader(EventCreate, GuideEventCreate, isGuideEvent),
  recordsEvent: true,
  data: Event,
  success: { 200: "The first event with the same dedupe_id", 201: "The event recorded" },
  errors: [
    "resource_not_found",
    "profile_redacted",
    "too_many_items",
    "invalid_id",
    "invalid_event_type",
    "reserved_event_type",
    "parameter_conflict",
  ],
  examples: {
    bodies: {
      "An order, by email": {
        type: "order.completed",
        identifier: { type: "email", value: "ada@example.com" },
        properties: { order_id: "1001", items: [{ sku: "TEA-250" }] },
        value: "49.90",
        currency: "EUR",
        dedupe_id: "order-1001",
      },
      "A visit, by profile": {
        type: "page.viewed",
        profile_id: exampleIds.profile,
        properties: { path: "/teas" },
        occurred_at: "2026-11-02T10:30:00+01:00",
      },
      "The form of the getting-started guide": {
        event_type: "order_completed",
        profile: { email: "ada@example.com" },
        properties: { order_id: "1002" },
        idempotency_key: "order-1002",
      },
    },
    data: exampleEvent,
  },
});

const list = operation("events:read", {
  id: "listEvents",
  tag: "Events",
  summary: "List events",
  description: "The newest first unless `sort` says otherwise. Events of a merged profile are its survivor's.",
  query: {
    filters: {
      type: "Events of this type",
      profile_id: idFilter("prof", "Events of this profile, and of those that were merged into it"),
      source: "Events from this source",
    },
    ranges: { occurred_at: "When it happened", received_at: "When it was taken" },
    sorts: ["occurred_at", "received_at"],
    sortDefault: "-occurred_at",
    expands,
    paged: true,
  },
  data: Event,
  list: true,
  success: { 200: "A page of events" },
  errors: ["invalid_id"],
  examples: {
    query: {
      "filter[type]": "order.completed",
      "filter[profile_id]": exampleIds.profile,
      "filter[source]": "api",
      "filter[occurred_at][gte]": "2026-11-01T00:00:00Z",
      "filter[occurred_at][lt]": "2026-12-01T00:00:00Z",
      sort: "-received_at",
      expand: "profile,metric",
      "page[limit]": "10",
    },
    data: [exampleEvent],
  },
});

const read = operation("events:read", {
  id: "getEvent",
  tag: "Events",
  summary: "Read an event",
  description: "An anonymous event has `profile_id` null until a profile gains its identifier.",
  query: { expands },
  data: Event,
  success: { 200: "The event" },
  errors: ["invalid_id", "resource_not_found"],
  examples: { query: { expand: "profile" }, data: { ...exampleEvent, profile: exampleProfile } },
});

export const eventRoutes = [
  route("POST", "/events", create, async (exchange) => {
    const { reply, body } = exchange;
    const input = body.guide ? fromGuideEvent(body.guide) : toEventInput(body.main);
    const { outcome } = await exchange.recordEvent(input);
    if (outcome.case === "error") {
      const error = fromErrorMessage(outcome.value);
      throw body.guide ? toGuideEventError(error, body.guide) : error;
    }
    if (!outcome.value?.event) throw new Error("the event was not returned");
    const { event, replayed, resolvedFrom } = outcome.value;
    // The idempotency_key of the guide's form replays the original status; a dedupe_id answers 200 for a duplicate.
    void reply.code(replayed && !body.guide ? 200 : 201);
    void reply.header("location", `/v1/events/${event.id}`);
    if (replayed) void reply.header("idempotency-replayed", "true");
    return answerData(exchange, eventJson(event), resolvedMeta(resolvedFrom));
  }),

  route("GET", "/events", list, async (exchange) => {
    const { query, propertyId, services } = exchange;
    const { filters, ranges, sort, limit } = query;
    const page = openPage(exchange, "events");
    const after = page.after === undefined ? undefined : readPlace(page.after);
    const found = await services.events.listEvents({
      propertyId,
      profileId: filters.get("profile_id"),
      type: filters.get("type"),
      source: filters.get("source"),
      occurredAt: ranges.get("occurred_at"),
      receivedAt: ranges.get("received_at"),
      sort: sort.field === "received_at" ? EventSort.RECEIVED_AT : EventSort.OCCURRED_AT,
      ascending: sort.ascending,
      limit,
      after: after && { time: after.time, eventId: after.id },
    });
    const last = found.events.at(-1);
    const time = sort.field === "received_at" ? last?.receivedAt : last?.occurredAt;
    const meta = {
      ...resolvedMeta(found.resolvedFrom),
      ...page.meta(found.hasMore, last && writePlace(time, last.id)),
    };
    const expansionOf = await expand(exchange, found.events);
    return answerData(
      exchange,
      `[${found.events.map((event) => eventJson(event, expansionOf(event))).join(",")}]`,
      meta,
    );
  }),

  route("GET", "/events/:id", read, async (exchange) => {
    const { ids, propertyId, services } = exchange;
    const { events } = await services.events.getEvents({ propertyId, eventIds: [ids.id] });
    const [event] = events;
    if (!event) throw new DaybookError("resource_not_found", "There is no such event.", { param: "id" });
    const expansionOf = await expand(exchange, events);
    return answerData(exchange, eventJson(event, expansionOf(event)));
  }),
];

/** Reads the profiles and metrics to show in full within events. */
async function expand(
  exchange: NativeExchange,
  events: readonly EventMessage[],
): Promise<(event: EventMessage) => EventExpansion> {
  const { expands: shown } = exchange.query;
  const related = await readRelated(exchange, events, shown, shown.has("metric") ? { haveEvents: true } : undefined);
  const identifiers = { expand: false, showValues: exchange.showsValues };
  const profiles = new Map(related.profiles.map((profile) => [profile.id, profileJson(profile, identifiers)]));
  const metrics = new Map(related.metrics.map((metric) => [metric.name, metricJson(metric)]));
  return ({ profileId = "", type }) => ({
    ...(shown.has("profile") ? { profile: profiles.get(profileId) ?? "null" } : {}),
    ...(shown.has("metric") ? { metric: metrics.get(type) ?? "null" } : {}),
  });
}

/** @throws DaybookError `parameter_conflict` for a body with fields of both forms */
function isGuideEvent(body: unknown): boolean {
  if (!isJsonObject(body)) return false;
  const has = (schema: { properties: object }, other: { properties: object }): string | undefined =>
    Object.keys(schema.properties).find(
      (field) => Object.hasOwn(body, field) && !Object.hasOwn(other.properties, field),
    );
  const guideField = has(GuideEventCreate, EventCreate);
  const mainField = has(EventCreate, GuideEventCreate);
  // A body with fields of the main form and an idempotency_key counts as the main form, whose faults explain it best.
  if (guideField === undefined || (guideField === "idempotency_key" && mainField !== undefined)) return false;
  if (mainField !== undefined) {
    const fields = `${quoteName(guideField)} and ${quoteName(mainField)}`;
    const message = `${fields} belong to two different forms of an event. Send the fields of one form.`;
    throw new DaybookError("parameter_conflict", message, { param: guideField });
  }
  return true;
}
