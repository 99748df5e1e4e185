import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  EndpointStatus,
  UpdateEndpointResponseSchema,
  type UpdateEndpointRequest,
  type WebhookService,
} from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { checkFaults, DaybookError, settleNow, type FieldError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { WebhookContext } from "../context.ts";
import * as fields from "../domain/endpoint-fields.ts";
import { toEndpoint } from "../mapping.ts";
import { isOwnerGood } from "../owners.ts";
import { openHeaders, sealHeaders } from "../secrets.ts";
import { forgetFailures, readEndpoint, updateEndpoint as update, type EndpointRow } from "../sql/endpoints.ts";
import { findAndLock, findEndpoint, sightOf } from "../viewer.ts";

export function updateEndpoint(context: WebhookContext): ServiceImpl<typeof WebhookService>["updateEndpoint"] {
  const { database, clock } = context;
  return async (request) => {
    const property = decodeId("prop", request.propertyId, "property_id");
    const sight = sightOf(request.viewer);
    const { endpointId, status } = request;
    const seen = await findEndpoint(database, property, endpointId, sight);
    const isEnabling = status === EndpointStatus.ENABLED && seen.status === "disabled";
    // Before the transaction, because it asks another service. An owner that ends later is noticed later.
    if (isEnabling && !(await isOwnerGood(context, seen, request.types))) {
      const message = "Who made the endpoint has ended, or may not have its types any more.";
      throw new DaybookError("invalid_state_transition", message, { param: "status" });
    }
    const now = clock.nowMicros();
    const row = await withTransaction(database, async (tx) => {
      const found = await findAndLock(tx, property, endpointId, sight);
      const wanted = read(request, found);
      const isEnabled = status === EndpointStatus.UNSPECIFIED ? undefined : status === EndpointStatus.ENABLED;
      const state = stateOf(found, isEnabled, formatMicros(now));
      await update(tx, [
        property,
        found.id,
        wanted.url,
        wanted.description,
        wanted.types,
        wanted.filter.eventTypes,
        wanted.filter.sources,
        wanted.headers.map(({ name }) => name),
        sealHeaders(context.sealing, found.id, wanted.headers),
        wanted.rateLimit,
        wanted.revision,
        ...state,
        formatMicros(now),
      ]);
      if (isEnabled && found.status === "disabled") await forgetFailures(tx, [property, found.id]);
      const [written] = await readEndpoint(tx, [property, found.id]);
      if (!written) throw new Error("the endpoint that was written is gone");
      return written;
    });
    context.endpointChanged(row.id);
    if (row.is_unsettled) context.settling.wake();
    return create(UpdateEndpointResponseSchema, { endpoint: toEndpoint(row) });
  };

  /** What the endpoint is to be. @throws DaybookError with every field at fault. */
  function read(request: UpdateEndpointRequest, found: EndpointRow) {
    const { url, description, types, filter, headers, rateLimitPerSecond, revision } = request;
    const isOfApp = found.app_id !== null;
    if (
      isOfApp &&
      [url, description, filter, headers, revision].some((field) => field !== undefined || types.length > 0)
    ) {
      const message = "The endpoint is an app's, which says what is sent where. It can be disabled and enabled.";
      throw new DaybookError("invalid_state_transition", message, { param: "endpoint_id" });
    }
    const faults: FieldError[] = [];
    const checked = url === undefined ? found.url : settleNow(() => context.checkUrl(url));
    if (checked instanceof DaybookError) {
      faults.push({ code: checked.code, message: checked.message, param: checked.param });
    }
    if (description !== undefined) fields.checkDescription(description, faults);
    const known = openHeaders(context.sealing, found.id, found.headers);
    const valueOf = new Map(known.map(({ name, value }) => [name, value]));
    const rateLimit = rateLimitPerSecond === 0 ? null : (rateLimitPerSecond ?? found.rate_limit_per_second);
    const wanted = {
      url: String(checked),
      description: description ?? found.description,
      types: types.length === 0 ? found.types : fields.readTypes(types, faults),
      filter:
        filter === undefined
          ? { eventTypes: found.event_types, sources: found.sources }
          : fields.readFilter(filter, faults),
      headers:
        headers === undefined
          ? known
          : fields
              .readHeaders(headers.headers, faults, new Set(valueOf.keys()))
              .map(({ name, value }) => ({ name, value: value === "" ? (valueOf.get(name) ?? "") : value })),
      rateLimit,
      revision: revision ?? found.revision,
    };
    if (typeof checked === "string" && new URL(checked).origin !== new URL(found.url).origin) {
      // Else whoever may change the address would get the values, which are never shown.
      const sent = new Map(headers?.headers.map(({ name, value }) => [name.toLowerCase(), value]));
      const kept = wanted.headers.filter(({ name }) => (sent.get(name) ?? "") === "");
      if (kept.length > 0) {
        const message = "`headers` must have their values again, because `url` leads to another server.";
        faults.push({ code: "parameter_missing", message, param: "headers" });
      }
    }
    fields.checkRateLimit(rateLimit ?? undefined, faults);
    fields.checkRevision(wanted.revision, faults);
    checkFaults(faults);
    return wanted;
  }
}

/** @returns disabled_reason, disabled_at and is_unsettled. */
function stateOf(
  found: EndpointRow,
  isEnabled: boolean | undefined,
  now: ReturnType<typeof formatMicros>,
): [EndpointRow["disabled_reason"], ReturnType<typeof formatMicros> | null, boolean] {
  if (isEnabled === true || (isEnabled === undefined && found.status === "enabled")) return [null, null, false];
  if (found.status === "enabled") return ["manual", now, true];
  const disabledAt = found.disabled_at === null ? null : formatMicros(found.disabled_at);
  return [found.disabled_reason, disabledAt, found.is_unsettled];
}
