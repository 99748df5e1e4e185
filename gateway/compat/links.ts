/** Links: absolute, under the address that clients see. */
import type { FastifyRequest } from "fastify";
import type { Document } from "./reply.ts";

/** Makes the links of one answer. */
export interface Links {
  /** To a resource, such as `/events/evt_…`. */
  to(path: string): { self: string };
  /** Of the request itself. */
  self(): { self: string };
  /** Of a page, given the cursors of the next and of the one before. */
  page(next: string | undefined, prev?: string): NonNullable<Document["links"]>;
}

export function linksOf(request: FastifyRequest): Links {
  const origin = request.publicOrigin;
  const prefix = request.url.startsWith("/api/") ? "/api" : "";
  const [place, query] = splitUrl(request.url);
  // As URIs have it: neither brackets nor quotes may stand in one.
  const self = origin + (query === "" ? place : `${place}?${new URLSearchParams(query).toString()}`);
  return {
    to: (path) => ({ self: `${origin}${prefix}${path}` }),
    self: () => ({ self }),
    page(next, prev) {
      const linkTo = (cursor: string | undefined): string | null => {
        if (cursor === undefined) return null;
        const parameters = new URLSearchParams(query);
        parameters.set("page[cursor]", cursor);
        // The cursor keeps it. Some clients send the whole link as a parameter, beside the filter: with it there twice it would be too long.
        parameters.delete("filter");
        return `${origin}${place}?${parameters.toString()}`;
      };
      return { self, next: linkTo(next), prev: linkTo(prev) };
    },
  };
}

/** Path and query; a question mark may stand in the query too. */
function splitUrl(url: string): [path: string, query: string] {
  const at = url.indexOf("?");
  return at < 0 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}
