/** Callers: keys, and installations of apps. Both have rate windows and a last use. */
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId, type Uuid } from "#shared/values/ids.ts";

export type CallerKind = "key" | "inst";

/** @throws DaybookError `invalid_id` */
export function decodeCallerId(id: string, param: string): Uuid {
  return decodeId(/^inst_/i.test(id) ? "inst" : "key", id, param);
}

export function encodeCallerId(kind: CallerKind, id: Uuid): string {
  return encodeId(kind, id);
}

/** The refusal of every key and token that is not good, whatever the reason. */
export function callerRefused(): DaybookError {
  return new DaybookError("invalid_api_key", "The API key is missing or not valid.");
}
