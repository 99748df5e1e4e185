/** The envelope of every success: `{data, meta}`. Data is JSON text, so that caller JSON is not changed. */
import type { Exchange } from "../surface/exchange.ts";

/** Optional fields of meta. */
export interface MetaExtra {
  resolved_from?: string;
  as_of?: string;
  page?: { limit: number; has_more: boolean; next_cursor: string | null };
}

/**
 * @param otherDataJson data for a key with the opposite right to see identifier values: see `otherBody` of
 * plugins/idempotency.ts.
 * @returns the body.
 */
export function answerData(
  { request, reply, caller }: Exchange,
  dataJson: string,
  extra: MetaExtra = {},
  otherDataJson?: string,
): string {
  const meta = JSON.stringify({
    request_id: request.id,
    revision: request.revision,
    livemode: caller.livemode,
    ...extra,
  });
  const bodyOf = (data: string): string => `{"data":${data},"meta":${meta}}`;
  if (otherDataJson !== undefined) request.otherBody = bodyOf(otherDataJson);
  void reply.type("application/json; charset=utf-8");
  return bodyOf(dataJson);
}
