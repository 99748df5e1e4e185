/** Links: absolute, under the address that clients see. */
import type { FastifyRequest } from "fastify";
import { originOf } from "../origin.ts";
import type { Document } from "./reply.ts";

/** Makes the links of one answer. */
export interface Links {
  /** To a resource, such as `/events/evt_…`. */
  to(path: string): { self: string };
  /** Of the request itself. */
  self(): { self: string };
  /** Of a page, given the cursor of the next. */
  page(cursor: string | undefined): NonNullable<Document["links"]>;
}

/** @param publicUrl the address that is set for this gateway, if one is. */
export function linksOf(request: FastifyRequest, publicUrl: string | undefined): Links {
  const origin = originOf(request, publicUrl);
  const prefix = request.url.startsWith("/api/") ? "/api" : "";
  const [place, query] = splitUrl(request.url);
  // As URIs have it: neither brackets nor quotes may stand in one.
  const self = origin + (query === "" ? place : `${place}?${new URLSearchParams(query).toString()}`);
  return {
    to: (path) => ({ self: `${origin}${prefix}${path}` }),
    self: () => ({ self }),
    page(cursor) {
      if (cursor === undefined) return { self, next: null, prev: null };
      const parameters = new URLSearchParams(query);
      parameters.set("page[cursor]", cursor);
      // The cursor keeps it. Some clients send the whole link as a parameter, beside the filter: with it there twice it would be too long.
      parameters.delete("filter");
      return { self, next: `${origin}${place}?${parameters.toString()}`, prev: null };
    },
  };
}

/** Path and query; a question mark may stand in the query too. */
function splitUrl(url: string): [path: string, query: string] {
  const at = url.indexOf("?");
  return at < 0 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}
