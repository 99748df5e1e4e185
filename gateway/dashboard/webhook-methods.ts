/** The allow-list of WebhookService. */
import { create } from "@bufbuild/protobuf";
import { ViewerSchema, WebhookService, type Viewer } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { newestRevision } from "#shared/values/revisions.ts";
import { scopesOfTypes } from "#shared/values/webhook-types.ts";
import { managing, methodsOf, reading, writing, type Exchange } from "./method.ts";
import { missingRight } from "./refusal.ts";

const right = "webhooks:manage";

/** An endpoint receives what its maker may read, so a member sees and changes those whose types she may read. */
function onBehalf(input: { viewer?: Viewer | undefined }, { rights }: Exchange): void {
  input.viewer = create(ViewerSchema, { scopes: [...rights] });
}

/** @throws DaybookError `missing_scope` for a type that a member may not read herself */
function checkTypes({ types }: { types: readonly string[] }, { rights }: Exchange): void {
  const lacking = scopesOfTypes(types).find((scope) => !rights.has(scope));
  if (lacking !== undefined) throw missingRight(lacking);
}

/** An endpoint sends data out of Daybook: where to, and what, is as sensitive as a key. */
const sensitive = { ...writing(right), fresh: true, prepare: onBehalf } as const;

export const webhookMethods = methodsOf(WebhookService, ({ clients }) => clients.webhooks, {
  listEndpoints: { ...reading(right), prepare: onBehalf },
  getEndpoint: { ...reading(right), prepare: onBehalf },
  describeEndpoints: reading(right),
  createEndpoint: {
    ...writing(right),
    fresh: true,
    audit: (_input, output) => [output?.endpoint?.id],
    prepare(input, exchange) {
      checkTypes(input, exchange);
      input.createdBy = exchange.viewer.member.id;
      input.revision ||= newestRevision;
      delete input.operationId;
    },
  },
  updateEndpoint: {
    ...sensitive,
    audit: ({ endpointId }) => [endpointId],
    prepare(input, exchange) {
      checkTypes(input, exchange);
      onBehalf(input, exchange);
    },
  },
  deleteEndpoint: { ...sensitive, audit: ({ endpointId }) => [endpointId] },
  rotateEndpointSecret: { ...sensitive, audit: ({ endpointId }) => [endpointId] },
  createReplay: {
    ...writing(right),
    fresh: true,
    audit: ({ endpointId }, output) => [endpointId, output?.replay?.id],
    prepare(input, exchange) {
      onBehalf(input, exchange);
      delete input.operationId;
    },
  },
  testEndpoint: {
    ...writing(right),
    audit: ({ endpointId }, output) => [endpointId, output?.delivery?.id],
    prepare: onBehalf,
  },
  listDeliveries: { ...reading(right), prepare: onBehalf },
  getDelivery: { ...reading(right), prepare: onBehalf },
  retryDelivery: { ...writing(right), audit: ({ deliveryId }) => [deliveryId], prepare: onBehalf },
  rotateAppWebhookSecret: { ...managing("apps:manage"), fresh: true, audit: ({ appId }) => [appId] },
});
