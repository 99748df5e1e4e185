/** Lists of types of webhook messages, as endpoints and apps have them. */
import type { FieldError } from "./errors.ts";
import { allTypes, isWebhookType } from "./webhook-types.ts";
import { mismatch, missing, quoteName } from "./wording.ts";

const typesMax = 50;

/** Every fault of a list: it has 1 to 50 types, or `*` alone. One that is there twice counts once. */
export function typeListFaults(types: readonly string[], param: string): FieldError[] {
  if (types.length === 0) return [missing(param, `1 to ${typesMax} types of messages, or "${allTypes}" for all`)];
  if (types.length > typesMax) {
    const message = `${quoteName(param)} must have at most ${typesMax} items; got ${types.length}.`;
    return [{ code: "too_many_items", message, param }];
  }
  if (types.length > 1 && types.includes(allTypes)) {
    const message = `${quoteName(param)} must have "${allTypes}" alone, or types of messages.`;
    return [{ code: "parameter_conflict", message, param }];
  }
  return types.flatMap((type, index) =>
    type === allTypes || isWebhookType(type)
      ? []
      : [mismatch(`${param}.${index}`, "a type of messages; GET /v1/webhook-types lists them", type, { quoted: true })],
  );
}
