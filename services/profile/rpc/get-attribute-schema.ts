import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetAttributeSchemaResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { ProfileContext } from "../context.ts";

export function getAttributeSchema({
  schemas,
}: ProfileContext): ServiceImpl<typeof ProfileService>["getAttributeSchema"] {
  return async ({ propertyId }) => {
    const schema = await schemas.read(decodeId("prop", propertyId, "property_id"));
    const inOrder = [...schema].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return create(GetAttributeSchemaResponseSchema, { schemaJson: JSON.stringify(Object.fromEntries(inOrder)) });
  };
}
