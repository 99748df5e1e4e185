import { eventSchemaJson } from "#shared/wire/metrics.ts";
import { profileSchemaJson } from "../convert/profiles.ts";
import { answerData } from "../envelope.ts";
import { exampleMetric } from "../examples.ts";
import { operation, route } from "../operation.ts";
import { openPage } from "../paging.ts";
import { Schema } from "../resources.ts";

const list = operation("accounts:read", {
  id: "listSchemas",
  tag: "Schemas",
  summary: "List what was observed of attributes and of event types",
  description:
    "First that of the attributes of profiles, then that of each event type in the order in which their metrics were " +
    "made. Objects give a and a.b, arrays items and items[].sku; null teaches nothing; what was seen with two types " +
    "is mixed. Nothing is forgotten when values change or go, but what only a redacted profile had. Attributes are " +
    "learned as they are written; of those that were written before Daybook learned them, once, from the 10,000 " +
    "newest profiles.",
  query: {
    filters: { resource: { description: "Only what was observed of these", oneOf: ["event", "profile"] } },
    paged: true,
  },
  data: Schema,
  list: true,
  success: { 200: "A page of schemas" },
  examples: {
    query: { "filter[resource]": "event" },
    data: [
      {
        object: "schema",
        resource: "profile",
        type: null,
        metric_id: null,
        schema: { plan: "string", interests: "array" },
      },
      {
        object: "schema",
        resource: "event",
        type: exampleMetric.name,
        metric_id: exampleMetric.id,
        schema: exampleMetric.schema,
      },
    ],
  },
});

// The cursor position of the schema of attributes; those of event types are at the ids of their metrics.
const profilePlace = "profile";

export const schemaRoutes = [
  route("GET", "/schemas", list, async (exchange) => {
    const { query, propertyId, services } = exchange;
    const resource = query.filters.get("resource");
    const page = openPage(exchange, "schemas");
    const showsProfile = page.after === undefined && resource !== "event";
    const showsEvents = resource !== "profile";
    // At least one item is read, to know whether more follow.
    const limit = Math.max(1, query.limit - (showsProfile ? 1 : 0));
    const afterMetricId = page.after === profilePlace ? undefined : page.after;
    const [attributes, events] = await Promise.all([
      showsProfile ? services.profiles.getAttributeSchema({ propertyId }) : undefined,
      showsEvents ? services.metrics.listMetrics({ propertyId, limit, afterMetricId }) : undefined,
    ]);
    const found = events?.metrics ?? [];
    const metrics = found.slice(0, query.limit - (attributes ? 1 : 0));
    const hasMore = events?.hasMore === true || metrics.length < found.length;
    const items = [...(attributes ? [profileSchemaJson(attributes.schemaJson)] : []), ...metrics.map(eventSchemaJson)];
    return answerData(exchange, `[${items.join(",")}]`, page.meta(hasMore, metrics.at(-1)?.id ?? profilePlace));
  }),
];
