import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { SetProfileRefsResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import { isUniqueViolation } from "#shared/database/failures.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { ProfileContext } from "../context.ts";
import { newProfileRef } from "../domain/ref.ts";
import { assignRefs, findWithoutRef, setRefs } from "../sql/refs.ts";

// A statement holds its locks briefly, and a call ends long before its deadline.
const rowsMax = 1_000;
const statementsMax = 20;

export function setProfileRefs(context: ProfileContext): ServiceImpl<typeof ProfileService>["setProfileRefs"] {
  const { database, clock } = context;
  return async ({ propertyId, enabled }) => {
    const property = decodeId("prop", propertyId, "property_id");
    await setRefs(database, [property, enabled]);
    if (!enabled) return create(SetProfileRefsResponseSchema, { complete: true });
    let assigned = 0;
    for (let count = 0; count < statementsMax; count++) {
      const ids = (await findWithoutRef(database, [property, rowsMax])).map(({ id }) => id);
      if (ids.length > 0) assigned += await assign(property, ids);
      if (ids.length < rowsMax) return create(SetProfileRefsResponseSchema, { assigned, complete: true });
    }
    return create(SetProfileRefsResponseSchema, { assigned, complete: false });
  };

  /** @returns the number of profiles that got a reference. */
  async function assign(property: Uuid, ids: Uuid[]): Promise<number> {
    const now = formatMicros(clock.nowMicros());
    try {
      return (await assignRefs(database, [property, now, ids.map((id) => ({ id, ref: newProfileRef() }))])).length;
    } catch (error) {
      // Another profile has one of the references. The next round draws new ones.
      if (isUniqueViolation(error)) return 0;
      throw error;
    }
  }
}
