import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Event, EventInput, RecordEventResult } from "#proto/daybook/event/v1/event_pb.ts";
import { DaybookError, fromErrorMessage } from "#shared/errors.ts";
import { decodeId } from "#shared/ids.ts";
import { calling, callOptions } from "#shared/interceptors.ts";
import { isJsonObject } from "#shared/json.ts";
import { checkItemCount } from "#shared/limits.ts";
import { requireScope } from "../../plugins/authentication.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import type { NativeContext } from "../context.ts";
import {
  eventJson,
  fromGuideEvent,
  metricJson,
  profileJson,
  toEventInput,
  toGuideEventError,
  type EventExpansion,
} from "../convert.ts";
import { sendData } from "../envelope.ts";
import { readQuery } from "../query.ts";
import { EventBatch, EventBatchItem, EventCreate, GuideEventCreate } from "../schemas.ts";
import { createReader } from "../validation.ts";

const batchItemsMax = 1000;

const eventReader = createReader(EventCreate);
const guideEventReader = createReader(GuideEventCreate);
const batchReader = createReader(EventBatch);
const batchItemReader = createReader(EventBatchItem);

export function eventRoutes(app: FastifyInstance, { clients, recording }: NativeContext): void {
  app.post("/events", { config: { scope: "events:write" } }, async (request, reply) => {
    readQuery(request.query, {});
    const isGuide = isGuideEvent(request.body);
    const input = isGuide
      ? fromGuideEvent(guideEventReader.read(request.body))
      : toEventInput(eventReader.read(request.body));
    const { outcome } = await recording.recordOne(callerOf(request).propertyId, input, callOf(request));
    if (outcome.case === "error") {
      const error = fromErrorMessage(outcome.value);
      throw isGuide ? toGuideEventError(error) : error;
    }
    if (!outcome.value?.event) throw new Error("the event was not returned");
    const { event, replayed, resolvedFrom } = outcome.value;
    // The guide's key gives the original answer again; a dedupe_id says that nothing new was created.
    void reply.code(replayed && !isGuide ? 200 : 201);
    void reply.headers({ location: `/v1/events/${event.id}`, "idempotency-replayed": String(replayed) });
    return sendData(
      request,
      reply,
      eventJson(event),
      resolvedFrom === undefined ? {} : { resolved_from: resolvedFrom },
    );
  });

  const batchOptions = { config: { scope: "events:write", rateByBody: true } } as const;
  app.post("/events/batch", batchOptions, async (request, reply) => {
    const isBackfill = isJsonObject(request.body) && request.body.backfill === true;
    app.takeRate(request, reply, isBackfill ? "backfill" : "ordinary");
    readQuery(request.query, {});
    const body = batchReader.read(request.body);
    checkItemCount(body.events.length, batchItemsMax, "events");

    const items = body.events.map((item) => readItem(item, isBackfill));
    const inputs = items.flatMap(({ input }) => (input instanceof DaybookError ? [] : [input]));
    const recorded =
      inputs.length > 0 ? await recording.recordBatch(callerOf(request).propertyId, inputs, callOf(request)) : [];
    const results = recorded.values();
    const answers = items.map(({ clientReference, input }) =>
      input instanceof DaybookError
        ? failedItem(clientReference, input)
        : recordedItem(clientReference, results.next().value),
    );
    const failed = answers.filter(({ error }) => error !== null).length;
    const counts = { succeeded: answers.length - failed, failed };
    void reply.header("idempotency-replayed", "false");
    return sendData(request, reply, JSON.stringify({ object: "batch_result", results: answers, counts }));
  });

  app.get<{ Params: { id: string } }>("/events/:id", { config: { scope: "events:read" } }, async (request, reply) => {
    const { expands } = readQuery(request.query, { expands: ["profile", "metric"] });
    decodeId("evt", request.params.id, "id");
    const { propertyId } = callerOf(request);
    const { events } = await calling(
      clients.events.getEvents({ propertyId, eventIds: [request.params.id] }, callOptions(callOf(request))),
    );
    const [event] = events;
    if (!event) throw new DaybookError("resource_not_found", "There is no such event.", { param: "id" });
    return sendData(request, reply, eventJson(event, await expand(request, event, expands)));
  });

  /** What is read of another resource needs the scope of that resource. */
  async function expand(request: FastifyRequest, event: Event, expands: ReadonlySet<string>): Promise<EventExpansion> {
    const caller = callerOf(request);
    const { propertyId } = caller;
    const options = callOptions(callOf(request));
    if (expands.has("profile")) requireScope(caller, "profiles:read");
    if (expands.has("metric")) requireScope(caller, "metrics:read");
    const [profile, metric] = await Promise.all([
      expands.has("profile") && event.profileId !== undefined
        ? calling(clients.profiles.getProfiles({ propertyId, profileIds: [event.profileId] }, options))
        : undefined,
      expands.has("metric")
        ? calling(clients.metrics.getMetrics({ propertyId, names: [event.type] }, options))
        : undefined,
    ]);
    const [shownProfile] = profile?.profiles ?? [];
    const [shownMetric] = metric?.metrics ?? [];
    const identifiers = { expand: false, showValues: false };
    return {
      ...(expands.has("profile") ? { profile: shownProfile ? profileJson(shownProfile, identifiers) : "null" } : {}),
      // A metric follows its first event by a moment.
      ...(expands.has("metric") ? { metric: shownMetric ? metricJson(shownMetric) : "null" } : {}),
    };
  }
}

/**
 * Whether a body has the form of the getting-started guide.
 * @throws DaybookError `parameter_conflict` when it has fields of both forms.
 */
function isGuideEvent(body: unknown): boolean {
  if (!isJsonObject(body)) return false;
  const has = (schema: { properties: object }, other: { properties: object }): string | undefined =>
    Object.keys(schema.properties).find(
      (field) => Object.hasOwn(body, field) && !Object.hasOwn(other.properties, field),
    );
  const guideField = has(GuideEventCreate, EventCreate);
  const mainField = has(EventCreate, GuideEventCreate);
  // An idempotency_key alone does not make it the guide's form: the main form says best what is wrong with it.
  if (guideField === undefined || (guideField === "idempotency_key" && mainField !== undefined)) return false;
  if (mainField !== undefined) {
    const message = `${mainField} and ${guideField} belong to different forms of an event.`;
    throw new DaybookError("parameter_conflict", message, { param: guideField });
  }
  return true;
}

interface BatchItemAnswer {
  status: number;
  client_reference: string | null;
  data: { id: string; object: "event" } | null;
  error: { type: string; code: string; message: string; param: string | null } | null;
}

function readItem(
  item: unknown,
  backfill: boolean,
): { clientReference: string | null; input: EventInput | DaybookError } {
  const reference = isJsonObject(item) ? item.client_reference : undefined;
  const clientReference = typeof reference === "string" ? reference : null;
  try {
    return { clientReference, input: toEventInput(batchItemReader.read(item), backfill) };
  } catch (error) {
    if (error instanceof DaybookError) return { clientReference, input: error };
    throw error;
  }
}

function recordedItem(clientReference: string | null, result: RecordEventResult | undefined): BatchItemAnswer {
  const outcome = result?.outcome;
  if (outcome?.case === "error") return failedItem(clientReference, fromErrorMessage(outcome.value));
  if (outcome?.case !== "recorded") throw new Error("an item was not answered");
  const { eventId, replayed } = outcome.value;
  return {
    status: replayed ? 200 : 201,
    client_reference: clientReference,
    data: { id: eventId, object: "event" },
    error: null,
  };
}

function failedItem(clientReference: string | null, error: DaybookError): BatchItemAnswer {
  const { status, type, code, message, param } = error;
  return { status, client_reference: clientReference, data: null, error: { type, code, message, param } };
}
