import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CreatePropertyResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { newUuid } from "#shared/values/ids.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros } from "#shared/values/time.ts";
import { checkName } from "../domain/names.ts";
import { readSettings } from "../domain/settings.ts";
import { toModeName, toProperty } from "../mapping.ts";
import { insertProperty } from "../sql/properties.ts";

export function createProperty(context: ServiceContext): ServiceImpl<typeof IdentityService>["createProperty"] {
  return async (request) => {
    checkName(request.name);
    const mode = toModeName(request.mode);
    if (!mode) throw new DaybookError("parameter_invalid", "A mode is live or test.", { param: "mode" });
    const { defaultCurrency, timezone } = readSettings(request);
    const now = formatMicros(context.clock.nowMicros());
    const [row] = await insertProperty(context.database, [
      newUuid(),
      request.name,
      mode,
      now,
      defaultCurrency,
      timezone,
    ]);
    return create(CreatePropertyResponseSchema, row ? { property: toProperty(row) } : {});
  };
}
