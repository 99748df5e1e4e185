/** Ids in paths: what each is of, by the collection that it stands behind. */
import { decodeId, encodeId, type IdPrefix } from "#shared/values/ids.ts";
import { exampleIds } from "./examples.ts";

/** The name of an id in a path. */
export type PathId = "id" | "identifier_id";

/** The ids in a path; a path without one has it empty. */
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
};

/** What a path says of its ids, in order. @param url as Fastify has it, such as `/profiles/:id`. */
export function describeIds(url: string) {
  return [...url.matchAll(/(\w+)\/:(\w+)/g)].map(([, collection = "", name]) => {
    const described = collections[collection];
    if (!described) throw new Error(`nobody knows what an id behind ${collection} is of`);
    return { name: name as PathId, ...described };
  });
}

/** Makes a reader of the ids in a path, which throws a DaybookError `invalid_id` with the name of the first that is none. */
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
