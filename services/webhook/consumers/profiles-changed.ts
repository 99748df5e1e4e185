import { fromBinary } from "@bufbuild/protobuf";
import { ProfilesChangedSchema } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import { decodeId } from "#shared/values/ids.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import type { WebhookContext } from "../context.ts";
import { fanOut } from "../fan-out.ts";
import { ofChange } from "../happenings.ts";
import { knownProperties } from "../properties.ts";
import { redact } from "../redaction.ts";

/** Makes messages of changes of profiles, and empties what is kept of those that were redacted. */
export function profilesChanged(context: WebhookContext): BusHandler {
  return async (payloads) => {
    const messages = payloads.map(({ payload }) => {
      const message = fromBinary(ProfilesChangedSchema, payload);
      return { ...message, property: decodeId("prop", message.propertyId, "property_id") };
    });
    const known = await knownProperties(
      context.database,
      messages.map(({ property }) => property),
    );
    for (const { property, changes, changedAt } of messages) {
      if (!known.has(property)) continue;
      // First, so that nothing of the person is sent any more.
      for (const { profileId, change } of changes) {
        if (change.case !== "redacted") continue;
        const ids = [profileId, ...change.value.mergedProfileIds];
        await redact(
          context,
          property,
          ids.map((id) => decodeId("prof", id, "profile_id")),
        );
      }
      const at = changedAt ? fromTimestamp(changedAt) : context.clock.nowMicros();
      await fanOut(
        context,
        changes.flatMap((change) => ofChange(property, change, at) ?? []),
      );
    }
  };
}
