/** TypeIDs, also accepted without their prefix and in other case. */
import { encodeId, tryDecodeId, type IdPrefix } from "#shared/values/ids.ts";

/** The TypeID of a text: a TypeID, or its last 26 characters, in either case; undefined if it is neither. */
export function toId(prefix: IdPrefix, text: string): string | undefined {
  const uuid = tryDecodeId(prefix, text) ?? tryDecodeId(prefix, `${prefix}_${text}`);
  return uuid === undefined ? undefined : encodeId(prefix, uuid);
}

export function uuidOf(prefix: IdPrefix, id: string): string {
  const uuid = tryDecodeId(prefix, id);
  if (uuid === undefined) throw new Error("a service answered with an id that is none");
  return uuid;
}
