/** A request with its validated query and body. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { Exchange, type SurfaceContext } from "../surface/exchange.ts";
import { linksOf, type Links } from "./links.ts";
import type { Query } from "./query.ts";

export class CompatExchange<Body = unknown> extends Exchange {
  /** The id of the path as it was sent; empty if the path has none. */
  readonly id: string;
  readonly query: Query;
  readonly body: Body;
  readonly links: Links;

  constructor(
    context: SurfaceContext,
    request: FastifyRequest,
    reply: FastifyReply,
    parts: { id: string; query: Query; body: Body },
  ) {
    super(context, request, reply);
    ({ id: this.id, query: this.query, body: this.body } = parts);
    this.links = linksOf(request);
  }
}
