/** The envelope of every success: `{data, meta}`. Data comes as JSON text, so that what a caller stored goes out as it came in. */
import type { FastifyReply } from "fastify";
import type { Exchange } from "../surface/exchange.ts";

/** What meta may say beyond what it always says. */
export interface MetaExtra {
  resolved_from?: string;
  as_of?: string;
  page?: { limit: number; has_more: boolean; next_cursor: string | null };
}

/**
 * Answers with data.
 * @param otherDataJson data as the other kind of key gets it, of a write that shows values of identifiers: see `otherBody` of plugins/idempotency.ts.
 */
export function sendData(
  { request, reply, caller }: Exchange,
  dataJson: string,
  extra: MetaExtra = {},
  otherDataJson?: string,
): FastifyReply {
  const meta = JSON.stringify({
    request_id: request.id,
    revision: request.revision,
    livemode: caller.livemode,
    ...extra,
  });
  const bodyOf = (data: string): string => `{"data":${data},"meta":${meta}}`;
  if (otherDataJson !== undefined) request.otherBody = bodyOf(otherDataJson);
  return reply.type("application/json; charset=utf-8").send(bodyOf(dataJson));
}
