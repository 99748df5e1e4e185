/** Reads the property of a message without the rest of it. */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { decodeId, type Uuid } from "#shared/values/ids.ts";

/**
 * @param field the number of the message's field `property_id`.
 * @throws Error without that field
 */
export function peekProperty(payload: Uint8Array, field: number): Uuid {
  const reader = new BinaryReader(payload);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === field && type === WireType.LengthDelimited) return decodeId("prop", reader.string(), "property_id");
    reader.skip(type, number);
  }
  throw new Error("the message names no property");
}
