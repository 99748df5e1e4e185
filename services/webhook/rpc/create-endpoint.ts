import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  CreateEndpointResponseSchema,
  type CreateEndpointRequest,
  type WebhookService,
} from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { checkFaults, DaybookError, settleNow, type FieldError } from "#shared/values/errors.ts";
import { decodeId, deriveUuid, newUuid, type Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { WebhookContext } from "../context.ts";
import * as fields from "../domain/endpoint-fields.ts";
import { newSecret } from "../domain/signing.ts";
import { toEndpoint } from "../mapping.ts";
import { noteProperty } from "../properties.ts";
import { openSecret, sealHeaders, sealSecret } from "../secrets.ts";
import { countEndpoints, insertEndpoint, readEndpoint } from "../sql/endpoints.ts";
import { lockProperty } from "../sql/properties.ts";

const endpointsOfPropertyMax = 20;
const endpointsOfInstallationMax = 5;

export function createEndpoint(context: WebhookContext): ServiceImpl<typeof WebhookService>["createEndpoint"] {
  const { database, clock, sealing } = context;
  return async (request) => {
    const property = decodeId("prop", request.propertyId, "property_id");
    const { operationId } = request;
    const id = operationId === undefined ? newUuid() : endpointOf(decodeId("op", operationId, "operation_id"));
    const wanted = check(request);
    await noteProperty(context, property);
    const now = formatMicros(clock.nowMicros());
    const row = await withTransaction(database, async (tx) => {
      // One after the other, so that together they are no more than the limits.
      await lockProperty(tx, [property]);
      const [known] = await readEndpoint(tx, [property, id]);
      if (known) {
        // Who did not make it is not told its secret.
        if (known.created_by === request.createdBy) return known;
        const message = "The Idempotency-Key made an endpoint for another caller.";
        throw new DaybookError("idempotency_key_reused", message);
      }
      await checkRoom(tx, property, wanted.owner);
      const [made] = await insertEndpoint(tx, [
        property,
        id,
        wanted.url,
        request.description,
        wanted.types,
        wanted.filter.eventTypes,
        wanted.filter.sources,
        wanted.headers.map(({ name }) => name),
        sealHeaders(sealing, id, wanted.headers),
        request.rateLimitPerSecond ?? null,
        request.disabled ? "manual" : null,
        request.revision,
        request.createdBy,
        wanted.owner?.id ?? null,
        wanted.owner?.kind ?? null,
        sealSecret(sealing, id, newSecret()),
        now,
      ]);
      if (!made) throw new Error("the endpoint was not stored");
      return made;
    });
    if (row.secret === null) throw new Error("an endpoint that was made has a secret");
    const secret = openSecret(sealing, id, row.secret);
    return create(CreateEndpointResponseSchema, { endpoint: toEndpoint(row), secret });
  };

  function check(request: CreateEndpointRequest) {
    const faults: FieldError[] = [];
    const url = settleNow(() => context.checkUrl(request.url));
    if (url instanceof DaybookError) faults.push({ code: url.code, message: url.message, param: url.param });
    fields.checkDescription(request.description, faults);
    const types = fields.readTypes(request.types, faults);
    const filter = fields.readFilter(request.filter, faults);
    const headers = fields.readHeaders(request.headers, faults);
    fields.checkRateLimit(request.rateLimitPerSecond, faults);
    fields.checkRevision(request.revision, faults);
    const owner = fields.readOwner(request.createdBy, faults);
    checkFaults(faults);
    return { url: String(url), types, filter, headers, owner };
  }
}

/** The endpoint that an operation makes. */
function endpointOf(operation: Uuid): Uuid {
  return deriveUuid(operation, "webhook_endpoint");
}

async function checkRoom(
  tx: Parameters<typeof countEndpoints>[0],
  property: Uuid,
  owner: fields.EndpointOwner | undefined,
): Promise<void> {
  const installation = owner?.kind === "inst" ? owner.id : null;
  const [count = { all: 0, own: 0 }] = await countEndpoints(tx, [property, installation]);
  if (count.all >= endpointsOfPropertyMax) {
    throw new DaybookError("too_many_items", `A property has at most ${endpointsOfPropertyMax} webhook endpoints.`);
  }
  if (count.own >= endpointsOfInstallationMax) {
    const message = `An installation has at most ${endpointsOfInstallationMax} webhook endpoints.`;
    throw new DaybookError("too_many_items", message);
  }
}
