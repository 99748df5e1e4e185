/** Ids: as TypeIDs everywhere; bare ones and other cases are taken too. */
import { encodeId, tryDecodeId, type IdPrefix } from "#shared/values/ids.ts";

/** The TypeID that a text means: itself, or its 26 characters alone, in either case. Undefined when it is none of this prefix. */
export function toId(prefix: IdPrefix, text: string): string | undefined {
  const uuid = tryDecodeId(prefix, text) ?? tryDecodeId(prefix, `${prefix}_${text}`);
  return uuid === undefined ? undefined : encodeId(prefix, uuid);
}

/** The UUID of a TypeID. */
export function uuidOf(prefix: IdPrefix, id: string): string {
  const uuid = tryDecodeId(prefix, id);
  if (uuid === undefined) throw new Error("a service answered with an id that is none");
  return uuid;
}
