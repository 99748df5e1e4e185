/** Ids in paths. The collection before an id tells its type. */
import { decodeId, encodeId, type IdPrefix } from "#shared/values/ids.ts";
import { exampleIds } from "./examples.ts";

export type PathId = "id" | "identifier_id";

/** The ids in a path; empty where the path has none. */
export type PathIds = Readonly<Record<PathId, string>>;

const collections: Readonly<Record<string, { prefix: IdPrefix; description: string; example: string }>> = {
  events: { prefix: "evt", description: "The id of an event", example: exampleIds.event },
  profiles: { prefix: "prof", description: "The id of a profile", example: exampleIds.profile },
  identifiers: {
    prefix: "idnt",
    description: "The id of an identifier of the profile",
    example: exampleIds.identifier,
  },
  metrics: { prefix: "mtr", description: "The id of a metric", example: exampleIds.metric },
  apps: { prefix: "app", description: "The id of an app", example: exampleIds.app },
  "privacy-requests": {
    prefix: "priv",
    description: "The id of a privacy request",
    example: exampleIds.privacyRequest,
  },
  suppressions: { prefix: "supp", description: "The id of a suppression", example: exampleIds.suppression },
  "rejected-writes": {
    prefix: "rej",
    description: "The id of a rejected write",
    example: exampleIds.rejectedWrite,
  },
  "webhook-endpoints": {
    prefix: "hook",
    description: "The id of a webhook endpoint",
    example: exampleIds.webhookEndpoint,
  },
  "webhook-deliveries": { prefix: "dlv", description: "The id of a delivery", example: exampleIds.webhookDelivery },
  installations: { prefix: "inst", description: "The id of an installation", example: exampleIds.installation },
};

/** Describes the ids of a path in order. @param url as Fastify has it, such as `/profiles/:id`. */
export function describeIds(url: string) {
  return [...url.matchAll(/([\w-]+)\/:(\w+)/g)].map(([, collection = "", name]) => {
    const described = collections[collection];
    if (!described) throw new Error(`nobody knows what an id behind ${collection} is of`);
    return { name: name as PathId, ...described };
  });
}

/** Makes a reader of path ids. The reader throws DaybookError `invalid_id` with the name of the first invalid id. */
export function idReader(url: string): (params: unknown) => PathIds {
  const described = describeIds(url);
  return (params) => {
    const ids = { id: "", identifier_id: "" };
    for (const { name, prefix } of described) {
      ids[name] = encodeId(prefix, decodeId(prefix, (params as PathIds)[name], name));
    }
    return ids;
  };
}
