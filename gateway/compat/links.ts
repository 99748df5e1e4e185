/** Absolute links under the public address. */
import type { FastifyRequest } from "fastify";
import type { Document } from "./reply.ts";

/** Creates the links of one answer. */
export interface Links {
  /** To a resource, such as `/events/evt_…`. */
  to(path: string): { self: string };
  /** To the request itself. */
  self(): { self: string };
  /** To the neighbours of a page. @param next cursor of the next page. @param prev of the previous page. */
  page(next: string | undefined, prev?: string): NonNullable<Document["links"]>;
}

export function linksOf(request: FastifyRequest): Links {
  const origin = request.publicOrigin;
  const prefix = request.url.startsWith("/api/") ? "/api" : "";
  const [place, query] = splitUrl(request.url);
  // Encoded again, because URIs allow neither brackets nor quotes.
  const self = origin + (query === "" ? place : `${place}?${new URLSearchParams(query).toString()}`);
  return {
    to: (path) => ({ self: `${origin}${prefix}${path}` }),
    self: () => ({ self }),
    page(next, prev) {
      const linkTo = (cursor: string | undefined): string | null => {
        if (cursor === undefined) return null;
        const parameters = new URLSearchParams(query);
        parameters.set("page[cursor]", cursor);
        // The cursor contains it. Some clients send the whole link as a parameter beside the filter; with two filters
        // the URL would be too long.
        parameters.delete("filter");
        return `${origin}${place}?${parameters.toString()}`;
      };
      return { self, next: linkTo(next), prev: linkTo(prev) };
    },
  };
}

/** Path and query. A query may contain question marks. */
function splitUrl(url: string): [path: string, query: string] {
  const at = url.indexOf("?");
  return at < 0 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}
