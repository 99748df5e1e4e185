/** Commands for webhooks. Endpoints that they make belong to the property. Each change leaves an entry in the audit. */
import {
  EndpointStatus,
  ReplayChoice,
  WebhookService,
  type Delivery,
  type Endpoint,
} from "#proto/daybook/webhook/v1/webhook_pb.ts";
import type { DescMethod } from "@bufbuild/protobuf";
import { newestRevision } from "#shared/values/revisions.ts";
import { parseDateTime, toTimestamp } from "#shared/values/time.ts";
import { deliveryJson, endpointJson, replayJson } from "#shared/wire/webhooks.ts";
import { toDeliveryStatus, toEndpointStatus } from "../../native/convert/webhooks.ts";
import { audit } from "../audit.ts";
import { readAll, readList, required, type Command, type OperatorServices, type Result } from "../command.ts";
import { readGrace } from "../grace.ts";
import { UsageError } from "../usage.ts";

const pageItems = 500;
const deliveriesShown = 100;
const { method } = WebhookService;

export const webhookCommands: readonly Command[] = [
  {
    name: "webhooks list",
    usage: "",
    summary: "the endpoints of a property",
    words: [0, 0],
    options: ["property"],
    async run({ webhooks }, { options: { property: propertyId = "" } }) {
      const all = await readAll<Endpoint>(async (last) => {
        const after = last && { afterEndpointId: last.id };
        const page = await webhooks.listEndpoints({ propertyId, limit: pageItems, ...after });
        return { items: page.endpoints, hasMore: page.hasMore };
      });
      return { text: all.map(endpointLine).join("\n"), json: all.map((each) => JSON.parse(endpointJson(each))) };
    },
  },
  {
    name: "webhooks create",
    usage: "<url>",
    summary: "makes an endpoint of a property, and shows its secret, this once",
    words: [1, 1],
    options: ["property", "types"],
    optional: ["event-types", "description", "revision"],
    async run(services, { words: [url = ""], options }) {
      const { property: propertyId = "", types = "", description, revision = newestRevision } = options;
      const { endpoint, secret } = await services.webhooks.createEndpoint({
        propertyId,
        url,
        types: readList(types),
        description,
        revision,
        filter: readFilter(options["event-types"]),
        createdBy: "operator",
      });
      await note(services, method.createEndpoint, propertyId, required(endpoint).id);
      return showSecret(required(endpoint), secret);
    },
  },
  {
    name: "webhooks get",
    usage: "<endpoint id>",
    summary: "all that is known of an endpoint, except its secret",
    words: [1, 1],
    options: ["property"],
    async run({ webhooks }, { words: [endpointId = ""], options: { property: propertyId = "" } }) {
      return showEndpoint(required((await webhooks.getEndpoint({ propertyId, endpointId })).endpoint));
    },
  },
  {
    name: "webhooks update",
    usage: "<endpoint id>",
    summary: "changes what is said of an endpoint, or enables or disables it; an empty --event-types lets all through",
    words: [1, 1],
    options: ["property"],
    optional: ["url", "types", "event-types", "description", "revision", "status"],
    async run(services, { words: [endpointId = ""], options }) {
      const { property: propertyId = "", url, types, description, revision, status } = options;
      if (status !== undefined && status !== "enabled" && status !== "disabled") {
        throw new UsageError("--status is enabled or disabled.");
      }
      const { endpoint } = await services.webhooks.updateEndpoint({
        propertyId,
        endpointId,
        url,
        description,
        revision,
        types: types === undefined ? [] : readList(types),
        filter: readFilter(options["event-types"]),
        status: toEndpointStatus(status),
      });
      await note(services, method.updateEndpoint, propertyId, required(endpoint).id);
      return showEndpoint(required(endpoint));
    },
  },
  {
    name: "webhooks delete",
    usage: "<endpoint id>",
    summary: "deletes an endpoint with its deliveries",
    words: [1, 1],
    options: ["property"],
    isIrreversible: true,
    async run(services, { words: [endpointId = ""], options: { property: propertyId = "" } }) {
      // Deleting one that is not there succeeds, and would confirm a mistyped id.
      const { id } = required((await services.webhooks.getEndpoint({ propertyId, endpointId })).endpoint);
      await services.webhooks.deleteEndpoint({ propertyId, endpointId: id });
      await note(services, method.deleteEndpoint, propertyId, id);
      return { text: `${id} is deleted.`, json: { id, deleted: true } };
    },
  },
  {
    name: "webhooks rotate-secret",
    usage: "<endpoint id>",
    summary: "gives an endpoint a new secret, and shows it, this once",
    words: [1, 1],
    options: ["property"],
    optional: ["grace"],
    async run(services, { words: [endpointId = ""], options: { property: propertyId = "", grace } }) {
      const request = { propertyId, endpointId, graceSeconds: readGrace(grace) };
      const { endpoint, secret } = await services.webhooks.rotateEndpointSecret(request);
      await note(services, method.rotateEndpointSecret, propertyId, required(endpoint).id);
      return showSecret(required(endpoint), secret);
    },
  },
  {
    name: "webhooks test",
    usage: "<endpoint id>",
    summary: "sends a test message to an endpoint, and tells what became of it",
    words: [1, 1],
    options: ["property"],
    async run(services, { words: [endpointId = ""], options: { property: propertyId = "" } }) {
      const { delivery } = await services.webhooks.testEndpoint({ propertyId, endpointId });
      await note(services, method.testEndpoint, propertyId, required(delivery).endpointId);
      return showDelivery(required(delivery));
    },
  },
  {
    name: "webhooks replay",
    usage: "<endpoint id>",
    summary: "sends an endpoint again what happened in a span of time, from what is stored",
    words: [1, 1],
    options: ["property", "from", "to"],
    optional: ["types", "only"],
    async run(services, { words: [endpointId = ""], options }) {
      const { property: propertyId = "", types, only = "failed" } = options;
      if (only !== "failed" && only !== "all") throw new UsageError("--only is failed or all.");
      const { replay } = await services.webhooks.createReplay({
        propertyId,
        endpointId,
        from: readInstant("from", options.from),
        to: readInstant("to", options.to),
        types: types === undefined ? [] : readList(types),
        only: only === "failed" ? ReplayChoice.FAILED : ReplayChoice.ALL,
      });
      const made = required(replay);
      await note(services, method.createReplay, propertyId, made.endpointId);
      return { text: `${made.id} sends again what happened.`, json: JSON.parse(replayJson(made)) };
    },
  },
  {
    name: "webhooks deliveries",
    usage: "",
    summary: `the newest deliveries of a property, at most ${deliveriesShown}`,
    words: [0, 0],
    options: ["property"],
    optional: ["endpoint", "status", "types"],
    async run({ webhooks }, { options: { property: propertyId = "", endpoint: endpointId, status, types: type } }) {
      const wanted = toDeliveryStatus(status);
      if (status !== undefined && wanted === 0) {
        throw new UsageError("--status is pending, delivered, failed or cancelled.");
      }
      const request = { propertyId, endpointId, status: wanted, type, limit: deliveriesShown };
      const { deliveries } = await webhooks.listDeliveries(request);
      const json: unknown = deliveries.map((each) => JSON.parse(deliveryJson(each)));
      return { text: deliveries.map(deliveryLine).join("\n"), json };
    },
  },
  {
    name: "webhooks retry",
    usage: "<delivery id>",
    summary: "sends a message again now",
    words: [1, 1],
    options: ["property"],
    async run(services, { words: [deliveryId = ""], options: { property: propertyId = "" } }) {
      const { delivery } = await services.webhooks.retryDelivery({ propertyId, deliveryId });
      await note(services, method.retryDelivery, propertyId, required(delivery).id);
      return showDelivery(required(delivery));
    },
  },
];

function note(services: OperatorServices, what: DescMethod, propertyId: string, target: string): Promise<void> {
  return audit(services, what, { targetIds: [target], propertyId });
}

/** Undefined keeps a filter, or is none. */
function readFilter(eventTypes: string | undefined) {
  return eventTypes === undefined ? undefined : { eventTypes: readList(eventTypes) };
}

function readInstant(name: string, text = "") {
  const micros = parseDateTime(text);
  if (micros === undefined) throw new UsageError(`--${name} is a time such as 2026-11-01T00:00:00Z.`);
  return toTimestamp(micros);
}

function showEndpoint(endpoint: Endpoint): Result {
  return { text: endpointLine(endpoint), json: JSON.parse(endpointJson(endpoint)) };
}

function showSecret(endpoint: Endpoint, secret: string): Result {
  const text = `${secret}\n${endpoint.id}; the secret is shown this once.`;
  return { text, json: JSON.parse(endpointJson(endpoint, secret)) };
}

function endpointLine({ id, url, types, status }: Endpoint): string {
  return [id, status === EndpointStatus.ENABLED ? "enabled" : "disabled", types.join(","), url].join("  ");
}

function showDelivery(delivery: Delivery): Result {
  return { text: deliveryLine(delivery), json: JSON.parse(deliveryJson(delivery, { attempts: true })) };
}

function deliveryLine(delivery: Delivery): string {
  const shown = JSON.parse(deliveryJson(delivery)) as Record<string, string | number | null>;
  const { id, endpoint_id: endpoint, type, status, attempts, last_error: error } = shown;
  return [id, endpoint, type, status, `${attempts} attempts`, ...(error === null ? [] : [error])].join("  ");
}
