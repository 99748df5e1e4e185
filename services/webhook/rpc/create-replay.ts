import { create } from "@bufbuild/protobuf";
import type { CallOptions, ServiceImpl } from "@connectrpc/connect";
import {
  CreateReplayResponseSchema,
  ReplayChoice,
  type CreateReplayRequest,
  type WebhookService,
} from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { onwardReadOptions } from "#shared/rpc/interceptors.ts";
import type { Micros } from "#shared/values/clock.ts";
import { checkFaults, DaybookError, type FieldError } from "#shared/values/errors.ts";
import { decodeId, deriveUuid, encodeId, newUuid, nilUuid } from "#shared/values/ids.ts";
import { formatMicros, fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import { allTypes } from "#shared/values/webhook-types.ts";
import { mismatch, missing } from "#shared/values/wording.ts";
import type { WebhookContext } from "../context.ts";
import { isOfEvents, replayedTypes } from "../domain/replay.ts";
import { toReplay } from "../mapping.ts";
import { replayMessagesMax } from "../replaying.ts";
import { insertReplay, readReplay } from "../sql/replays.ts";
import { findEndpoint, sightOf } from "../viewer.ts";

// Of 100,000 rows each.
const looksMax = 10;

export function createReplay(context: WebhookContext): ServiceImpl<typeof WebhookService>["createReplay"] {
  const { database, clock } = context;
  return async (request, handlerContext) => {
    const { propertyId, endpointId, viewer, operationId } = request;
    const property = decodeId("prop", propertyId, "property_id");
    const operation = operationId === undefined ? newUuid() : decodeId("op", operationId, "operation_id");
    const endpoint = await findEndpoint(database, property, endpointId, sightOf(viewer));
    const id = deriveUuid(operation, "webhook_replay");
    const [known] = await readReplay(database, [property, id]);
    if (known) return create(CreateReplayResponseSchema, { replay: toReplay(known) });

    const now = clock.nowMicros();
    const { from, to, types } = check(request, endpoint.types, now);
    if (endpoint.status !== "enabled") throw notNow("The endpoint is disabled. Enable it first.");
    if (types.some(isOfEvents)) {
      const isFiltered = endpoint.event_types.length > 0 || endpoint.sources.length > 0;
      await checkCount(
        propertyId,
        from,
        to,
        isFiltered || !types.includes("event.recorded"),
        onwardReadOptions(handlerContext),
      );
    }
    const span = [formatMicros(from), formatMicros(to)] as const;
    const onlyFailed = request.only === ReplayChoice.FAILED;
    await insertReplay(database, [property, id, endpoint.id, ...span, types, onlyFailed, formatMicros(now)]);
    const [row] = await readReplay(database, [property, id]);
    if (!row) throw notNow("Another replay of the endpoint is under way. Wait until it is complete.");
    context.replaying.wake();
    return create(CreateReplayResponseSchema, { replay: toReplay(row) });
  };

  /** @param isFiltered whether some of the events are not sent, so that there may be more of them. */
  async function checkCount(propertyId: string, from: Micros, to: Micros, isFiltered: boolean, options: CallOptions) {
    const tooMany = new DaybookError(
      "too_many_items",
      `A replay has at most ${replayMessagesMax} messages. Choose a shorter span of time.`,
      { param: "from" },
    );
    let events = 0;
    let after = { time: toTimestamp(from), eventId: encodeId("evt", nilUuid) };
    for (let look = 0; look < looksMax; look++) {
      const page = await context.events.tailEvents({ propertyId, after, withoutSystem: false, limit: 0 }, options);
      const at = page.position?.time ? fromTimestamp(page.position.time) : to;
      if (!page.hasMore || at >= to) return;
      events += Number(page.skipped);
      if (!isFiltered && events > replayMessagesMax) throw tooMany;
      after = { time: toTimestamp(at), eventId: page.position?.eventId ?? after.eventId };
    }
    throw tooMany;
  }
}

function check(request: CreateReplayRequest, endpointTypes: readonly string[], now: Micros) {
  const faults: FieldError[] = [];
  const from = request.from && fromTimestamp(request.from);
  const to = request.to && fromTimestamp(request.to);
  if (from === undefined) faults.push(missing("from", "the begin of the span of time"));
  if (to === undefined) faults.push(missing("to", "the end of the span of time"));
  if (to !== undefined && to > now) faults.push(mismatch("to", "a time that has passed", "a time to come"));
  if (from !== undefined && to !== undefined && from >= to) {
    faults.push({ code: "parameter_conflict", message: "`from` must be before `to`.", param: "from" });
  }
  if (request.only === ReplayChoice.UNSPECIFIED) faults.push(missing("only", '"failed" or "all"'));
  const allowed = endpointTypes.includes(allTypes)
    ? replayedTypes
    : replayedTypes.filter((type) => endpointTypes.includes(type));
  for (const [index, type] of request.types.entries()) {
    if (!allowed.includes(type)) {
      const expected = "a type of the endpoint that can be sent again";
      faults.push(mismatch(`types.${index}`, expected, type, { quoted: true }));
    }
  }
  checkFaults(faults);
  return { from: from ?? 0, to: to ?? 0, types: request.types.length > 0 ? [...new Set(request.types)] : [...allowed] };
}

function notNow(message: string): DaybookError {
  return new DaybookError("invalid_state_transition", message, { param: "endpoint_id" });
}
