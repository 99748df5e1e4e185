import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { DescribeCallersResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import { formatMicros } from "#shared/values/time.ts";
import { decodeCallerId } from "../callers.ts";
import { describeInstallations } from "../sql/installations.ts";
import { describeKeys } from "../sql/keys.ts";

const callersMax = 1_000;

export function describeCallers({
  database,
  clock,
}: ServiceContext): ServiceImpl<typeof IdentityService>["describeCallers"] {
  return async ({ callers }) => {
    checkItemCount(callers.length, callersMax, "callers");
    const wanted = callers.map(({ propertyId, callerId }) => ({
      property_id: decodeId("prop", propertyId, "property_id"),
      id: decodeCallerId(callerId, "caller_id"),
    }));
    const rows = [
      ...(await describeKeys(database, [formatMicros(clock.nowMicros()), wanted])),
      ...(await describeInstallations(database, [wanted])),
    ];
    const states = new Map(rows.map((row) => [row.id, row]));
    return create(DescribeCallersResponseSchema, {
      callers: callers.map(({ callerId }, index) => {
        const state = states.get(wanted[index]?.id as (typeof rows)[number]["id"]);
        const active = state?.active === true;
        return { callerId, active, scopes: active ? state.scopes : [], name: state?.name ?? "" };
      }),
    });
  };
}
