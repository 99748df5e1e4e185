/** Exchanges of the native surface, whose ids, If-Match, query and body are read and valid. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Precondition } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Exchange, type SurfaceContext } from "../surface/exchange.ts";
import type { PathIds } from "./paths.ts";
import type { Query } from "./query.ts";

interface Parts<Body> {
  /** Normalised. */
  ids: PathIds;
  precondition: Precondition | undefined;
  query: Query;
  body: Body;
}

export class NativeExchange<Body = unknown> extends Exchange implements Parts<Body> {
  readonly ids: PathIds;
  readonly precondition: Precondition | undefined;
  readonly query: Query;
  readonly body: Body;

  constructor(context: SurfaceContext, request: FastifyRequest, reply: FastifyReply, parts: Parts<Body>) {
    super(context, request, reply);
    ({ ids: this.ids, precondition: this.precondition, query: this.query, body: this.body } = parts);
  }
}
