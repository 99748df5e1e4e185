import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  GetRejectedWriteSettingsResponseSchema,
  type RejectedWriteService,
} from "#proto/daybook/event/v1/rejected_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { EventContext } from "../context.ts";
import { readKeepsPayloads } from "../sql/rejected-counts.ts";

export function getRejectedWriteSettings({
  database,
}: EventContext): ServiceImpl<typeof RejectedWriteService>["getRejectedWriteSettings"] {
  return async ({ propertyId }) => {
    const [row] = await readKeepsPayloads(database, [decodeId("prop", propertyId, "property_id")]);
    return create(GetRejectedWriteSettingsResponseSchema, { keepsPayloads: row?.keeps_payloads ?? true });
  };
}
